; Kernels as the compiler makes them. Each uses other operations of a GPU.
target triple = "nvptx64-nvidia-cuda"

@dynamic = external addrspace(3) global [0 x i8], align 16
@row = internal addrspace(3) global [32 x float] poison, align 16

; out[i] = x[i] * scale, for i < n.
define ptx_kernel void @scale(ptr %x, ptr %out, i64 %n, float %scale) #0 {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %base = mul i32 %ctaid, %ntid
  %i32 = add i32 %base, %tid
  %i = zext i32 %i32 to i64
  %inside = icmp slt i64 %i, %n
  br i1 %inside, label %then, label %done
then:
  %from = getelementptr float, ptr %x, i64 %i
  %value = load float, ptr %from
  %product = fmul float %value, %scale
  %to = getelementptr float, ptr %out, i64 %i
  store float %product, ptr %to
  br label %done
done:
  ret void
}

; Each block of 64 threads stores the sum of its 64 elements of %x in %out [block]. Each warp adds by shuffles; the two
; sums meet in shared memory.
define ptx_kernel void @sum(ptr %x, ptr %out) #1 {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %warp = lshr i32 %tid, 5
  %lane = and i32 %tid, 31
  %base = mul i32 %ctaid, 64
  %i = add i32 %base, %tid
  %from = getelementptr float, ptr %x, i32 %i
  %v0 = load float, ptr %from
  %s1 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %v0, i32 1, i32 31)
  %v1 = fadd float %v0, %s1
  %s2 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %v1, i32 2, i32 31)
  %v2 = fadd float %v1, %s2
  %s3 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %v2, i32 4, i32 31)
  %v3 = fadd float %v2, %s3
  %s4 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %v3, i32 8, i32 31)
  %v4 = fadd float %v3, %s4
  %s5 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %v4, i32 16, i32 31)
  %v5 = fadd float %v4, %s5
  %isfirstlane = icmp eq i32 %lane, 0
  br i1 %isfirstlane, label %put, label %join
put:
  %place = getelementptr float, ptr addrspace(3) @row, i32 %warp
  store float %v5, ptr addrspace(3) %place
  br label %join
join:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %isfirst = icmp eq i32 %tid, 0
  br i1 %isfirst, label %then, label %done
then:
  %a = load float, ptr addrspace(3) @row
  %b = load float, ptr addrspace(3) getelementptr (float, ptr addrspace(3) @row, i32 1)
  %total = fadd float %a, %b
  %to = getelementptr float, ptr %out, i32 %ctaid
  store float %total, ptr %to
  br label %done
done:
  ret void
}

; Reverses the 32 elements of %x by way of dynamic shared memory. If %barrier is 0, threads do not wait for each other.
define ptx_kernel void @reverse(ptr %x, i32 %barrier) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %shared = addrspacecast ptr addrspace(3) @dynamic to ptr
  %from = getelementptr float, ptr %x, i32 %tid
  %value = load float, ptr %from
  %place = getelementptr float, ptr %shared, i32 %tid
  store float %value, ptr %place
  %with = icmp ne i32 %barrier, 0
  br i1 %with, label %wait, label %go
wait:
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  br label %go
go:
  %other = sub i32 31, %tid
  %back = getelementptr float, ptr %shared, i32 %other
  %turned = load float, ptr %back
  store float %turned, ptr %from
  ret void
}

; Half of the threads wait at barrier 1 and half at barrier 2, each for all threads of the block: a deadlock.
define ptx_kernel void @stuck(ptr %x) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %low = icmp slt i32 %tid, 16
  br i1 %low, label %a, label %b
a:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 1)
  ret void
b:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 2)
  ret void
}

; Copies 32 x 16 bytes of %x to shared memory by cp.async, then to %out. If %late is not 0, threads do not wait for
; cp.async.
define ptx_kernel void @copy(ptr addrspace(1) %x, ptr %out, i32 %late) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = mul i32 %tid, 4
  %from = getelementptr float, ptr addrspace(1) %x, i32 %i
  %place = getelementptr float, ptr addrspace(3) @dynamic, i32 %i
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %place, ptr addrspace(1) %from)
  call void @llvm.nvvm.cp.async.commit.group()
  %islate = icmp ne i32 %late, 0
  br i1 %islate, label %read, label %wait
wait:
  call void @llvm.nvvm.cp.async.wait.group(i32 0)
  br label %read
read:
  %to = getelementptr float, ptr %out, i32 %i
  %value = load <4 x float>, ptr addrspace(3) %place, align 16
  store <4 x float> %value, ptr %to, align 16
  ret void
}

; Let A be the first 8 columns of %x [16, 16], and B the first 8 rows of A. Stores the product of A and B transposed in
; %out [16, 8], by one mma of tf32.
define ptx_kernel void @product(ptr %x, ptr %out) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %group = lshr i32 %lane, 2
  %quad = and i32 %lane, 3
  %row = mul i32 %group, 16
  %at = add i32 %row, %quad
  %p0 = getelementptr i32, ptr %x, i32 %at
  %p1 = getelementptr i32, ptr %p0, i32 128
  %p2 = getelementptr i32, ptr %p0, i32 4
  %p3 = getelementptr i32, ptr %p0, i32 132
  %a0 = load i32, ptr %p0
  %a1 = load i32, ptr %p1
  %a2 = load i32, ptr %p2
  %a3 = load i32, ptr %p3
  %d = call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.tf32(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a0, i32 %a2, float 0.0, float 0.0, float 0.0, float 0.0)
  %d0 = extractvalue { float, float, float, float } %d, 0
  %d1 = extractvalue { float, float, float, float } %d, 1
  %d2 = extractvalue { float, float, float, float } %d, 2
  %d3 = extractvalue { float, float, float, float } %d, 3
  %line = mul i32 %group, 8
  %pair = mul i32 %quad, 2
  %to = add i32 %line, %pair
  %o0 = getelementptr float, ptr %out, i32 %to
  %o1 = getelementptr float, ptr %o0, i32 1
  %o2 = getelementptr float, ptr %o0, i32 64
  %o3 = getelementptr float, ptr %o0, i32 65
  store float %d0, ptr %o0
  store float %d1, ptr %o1
  store float %d2, ptr %o2
  store float %d3, ptr %o3
  ret void
}

; Loads a 16 x 16 matrix of bf16 from the 128 words at %x by ldmatrix, and multiplies it by a matrix that selects its
; columns 0 to 7 or, if %high is not 0, its columns 8 to 15. Each lane stores its four elements of the product.
define ptx_kernel void @pick(ptr %x, ptr %out, i32 %high) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %first = mul i32 %lane, 4
  %from = getelementptr i32, ptr %x, i32 %first
  %words = load <4 x i32>, ptr %from, align 16
  %row = getelementptr i32, ptr addrspace(3) @dynamic, i32 %first
  store <4 x i32> %words, ptr addrspace(3) %row, align 16
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %a = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %row)
  %a0 = extractvalue { i32, i32, i32, i32 } %a, 0
  %a1 = extractvalue { i32, i32, i32, i32 } %a, 1
  %a2 = extractvalue { i32, i32, i32, i32 } %a, 2
  %a3 = extractvalue { i32, i32, i32, i32 } %a, 3
  %quad = and i32 %lane, 3
  %eighth = lshr i32 %lane, 3
  %isone = icmp eq i32 %quad, %eighth
  %group = lshr i32 %lane, 2
  %odd = and i32 %group, 1
  %shift = mul i32 %odd, 16
  %one = shl i32 16256, %shift
  %b = select i1 %isone, i32 %one, i32 0
  %ishigh = icmp ne i32 %high, 0
  %b0 = select i1 %ishigh, i32 0, i32 %b
  %b1 = select i1 %ishigh, i32 %b, i32 0
  %d = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1, float 0.0, float 0.0, float 0.0, float 0.0)
  %d0 = extractvalue { float, float, float, float } %d, 0
  %d1 = extractvalue { float, float, float, float } %d, 1
  %d2 = extractvalue { float, float, float, float } %d, 2
  %d3 = extractvalue { float, float, float, float } %d, 3
  %o0 = getelementptr float, ptr %out, i32 %first
  %o1 = getelementptr float, ptr %o0, i32 1
  %o2 = getelementptr float, ptr %o0, i32 2
  %o3 = getelementptr float, ptr %o0, i32 3
  store float %d0, ptr %o0
  store float %d1, ptr %o1
  store float %d2, ptr %o2
  store float %d3, ptr %o3
  ret void
}

; Each lane stores four numbers: a mask of the lanes less than 5, the sum of all lane numbers, the number of the lane
; that is 3 higher (its own if there is none), and the number of threads of the block whose lane is less than 5.
define ptx_kernel void @votes(ptr %out) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %below = icmp ult i32 %lane, 5
  %ballot = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %below)
  %sum = call i32 @llvm.nvvm.redux.sync.add(i32 %lane, i32 -1)
  %down = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %lane, i32 3, i32 31)
  %count = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %below)
  %first = mul i32 %lane, 4
  %o0 = getelementptr i32, ptr %out, i32 %first
  %o1 = getelementptr i32, ptr %o0, i32 1
  %o2 = getelementptr i32, ptr %o0, i32 2
  %o3 = getelementptr i32, ptr %o0, i32 3
  store i32 %ballot, ptr %o0
  store i32 %sum, ptr %o1
  store i32 %down, ptr %o2
  store i32 %count, ptr %o3
  ret void
}

; Rounds the elements of %x to bf16, and replaces them by 2 to the power of the result, by inline PTX.
define ptx_kernel void @round(ptr %x) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr float, ptr %x, i32 %tid
  %value = load float, ptr %p
  %short = fptrunc float %value to bfloat
  %long = fpext bfloat %short to float
  %power = call float asm "ex2.approx.ftz.f32 $0, $1;", "=f,f"(float %long)
  store float %power, ptr %p
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare float @llvm.nvvm.shfl.sync.bfly.f32(i32, float, i32, i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.commit.group()
declare void @llvm.nvvm.cp.async.wait.group(i32)
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.tf32(i32, i32, i32, i32, i32, i32, float, float, float, float)
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32, i32, i32, i32, i32, i32, float, float, float, float)
declare { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3))
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare i32 @llvm.nvvm.redux.sync.add(i32, i32)
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32, i1)

attributes #0 = { "nvvm.maxntid"="256,1,1" }
attributes #1 = { "nvvm.reqntid"="64,1,1" }
