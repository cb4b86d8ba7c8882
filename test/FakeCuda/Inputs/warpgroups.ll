; Right and wrong uses of the instructions of sm_90 for warpgroups.
target triple = "nvptx64-nvidia-cuda"

@word = internal addrspace(3) global i32 poison, align 128
@barrier = internal addrspace(3) global i64 poison, align 8
@matrix = internal addrspace(3) global [64 x i32] poison, align 128

; The last of 32 threads writes a word and arrives at an mbarrier. All threads wait for the mbarrier and then read the
; word. %how selects an error: 0 none; 1 threads wait with the wrong parity; 2 the last thread arrives twice; 3 the
; mbarrier is not initialized; 4 no thread arrives; 5 the mbarrier expects bytes that nothing copies.
define ptx_kernel void @phases(ptr %out, i32 %how) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %isfirst = icmp eq i32 %tid, 0
  %initializes = icmp ne i32 %how, 3
  %inits = and i1 %isfirst, %initializes
  br i1 %inits, label %init, label %ready
init:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @barrier, i32 1)
  br label %ready
ready:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %islast = icmp eq i32 %tid, 31
  br i1 %islast, label %write, label %wait
write:
  store i32 7, ptr addrspace(3) @word
  %comes = icmp ne i32 %how, 4
  br i1 %comes, label %arrive, label %wait
arrive:
  %twice = icmp eq i32 %how, 2
  %lacks = icmp eq i32 %how, 5
  %expects = or i1 %twice, %lacks
  br i1 %expects, label %expect, label %plain
expect:
  call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @barrier, i32 16)
  br i1 %twice, label %plain, label %done
plain:
  call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @barrier)
  br label %wait
wait:
  %leaves = icmp eq i32 %how, 5
  br i1 %leaves, label %done, label %look
look:
  %before = icmp eq i32 %how, 1
  %parity = zext i1 %before to i32
  call void asm sideeffect "mbarrier.try_wait.parity.shared.b64 p, [$0], $1;", "l,r"(ptr addrspace(3) @barrier, i32 %parity)
  %seen = load i32, ptr addrspace(3) @word
  %to = getelementptr i32, ptr %out, i32 %tid
  store i32 %seen, ptr %to
  br label %done
done:
  ret void
}

; Multiplies A [64, 16] in registers by B [16, 8] in shared memory, whose elements are all 1. %how selects an error: 0
; none; 1 the sums are stored before the wait for them; 2 the elements of B become 2 before the wait.
define ptx_kernel void @product(ptr %out, i32 %how) #0 {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = getelementptr i32, ptr addrspace(3) @matrix, i32 %tid
  %fills = icmp ult i32 %tid, 64
  br i1 %fills, label %fill, label %filled
fill:
  store i32 1065369472, ptr addrspace(3) %place
  br label %filled
filled:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %address = ptrtoint ptr addrspace(3) @matrix to i64
  %chunk = lshr i64 %address, 4
  %start = and i64 %chunk, 16383
  %both = or i64 %start, 34360262656
  call void @llvm.nvvm.wgmma.fence.sync.aligned()
  %sums = call { float, float, float, float } asm sideeffect "{ .reg .pred p; setp.ne.b32 p, $13, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, p, 1, 1, 0; }", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,l,r"(float 0.0, float 0.0, float 0.0, float 0.0, i32 1065369472, i32 1065369472, i32 1065369472, i32 1065369472, i64 %both, i32 0)
  call void @llvm.nvvm.wgmma.commit_group.sync.aligned()
  %first = extractvalue { float, float, float, float } %sums, 0
  %to = getelementptr float, ptr %out, i32 %tid
  switch i32 %how, label %wait [ i32 1, label %early
                                 i32 2, label %change ]
early:
  store float %first, ptr %to
  call void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64 0)
  ret void
change:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %fills, label %refill, label %refilled
refill:
  store i32 1073758208, ptr addrspace(3) %place
  br label %refilled
refilled:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %wait
wait:
  %there = call float asm sideeffect "wgmma.wait_group.sync.aligned 0;", "=f,0"(float %first)
  store float %there, ptr %to
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3))
declare i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3), i32)
declare void @llvm.nvvm.wgmma.fence.sync.aligned()
declare void @llvm.nvvm.wgmma.commit_group.sync.aligned()
declare void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64)

attributes #0 = { "nvvm.reqntid"="128,1,1" }
