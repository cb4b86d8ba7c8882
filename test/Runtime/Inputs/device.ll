; Kernels of the model in DeviceTest.c; one thread for each element, blocks of 32 threads.
target triple = "nvptx64-nvidia-cuda"

; sums[i] = ids[i] * mask[i] + positions[i] / 2, i < count
define ptx_kernel void @gather(ptr %ids, ptr %mask, ptr %positions, ptr %sums, i64 %count) {
  %i = call i64 @index()
  %inside = icmp slt i64 %i, %count
  br i1 %inside, label %then, label %done
then:
  %p0 = getelementptr i64, ptr %ids, i64 %i
  %id = load i64, ptr %p0
  %p1 = getelementptr i64, ptr %mask, i64 %i
  %bit = load i64, ptr %p1
  %p2 = getelementptr i64, ptr %positions, i64 %i
  %position = load i64, ptr %p2
  %masked = mul i64 %id, %bit
  %a = sitofp i64 %masked to float
  %b = sitofp i64 %position to float
  %half = fmul float %b, 0.5
  %sum = fadd float %a, %half
  %to = getelementptr float, ptr %sums, i64 %i
  store float %sum, ptr %to
  br label %done
done:
  ret void
}

; out[2 i + j] = sums[i] + weights[j]
define ptx_kernel void @spread(ptr %sums, ptr %weights, ptr %out, i64 %count) {
  %i = call i64 @index()
  %inside = icmp slt i64 %i, %count
  br i1 %inside, label %then, label %done
then:
  %from = getelementptr float, ptr %sums, i64 %i
  %sum = load float, ptr %from
  %w0 = load float, ptr %weights
  %p1 = getelementptr float, ptr %weights, i64 1
  %w1 = load float, ptr %p1
  %v0 = fadd float %sum, %w0
  %v1 = fadd float %sum, %w1
  %twice = mul i64 %i, 2
  %to0 = getelementptr float, ptr %out, i64 %twice
  store float %v0, ptr %to0
  %to1 = getelementptr float, ptr %to0, i64 1
  store float %v1, ptr %to1
  br label %done
done:
  ret void
}

; Cache [slots, 2, tokens]: appends ids[row] + h to head h of the row's slot; sums[row] is the sum of head 1.
define ptx_kernel void @append(ptr %ids, ptr %slots, ptr %past, ptr %cache, ptr %sums, i64 %count, i64 %tokens) {
  %row = call i64 @index()
  %inside = icmp slt i64 %row, %count
  br i1 %inside, label %then, label %done
then:
  %p0 = getelementptr i64, ptr %ids, i64 %row
  %id = load i64, ptr %p0
  %p1 = getelementptr i64, ptr %slots, i64 %row
  %slot = load i64, ptr %p1
  %p2 = getelementptr i64, ptr %past, i64 %row
  %length = load i64, ptr %p2
  %v0 = sitofp i64 %id to float
  %v1 = fadd float %v0, 1.0
  %slothead = mul i64 %slot, 2
  %offset = mul i64 %slothead, %tokens
  %head0 = getelementptr float, ptr %cache, i64 %offset
  %head1 = getelementptr float, ptr %head0, i64 %tokens
  %to0 = getelementptr float, ptr %head0, i64 %length
  store float %v0, ptr %to0
  %to1 = getelementptr float, ptr %head1, i64 %length
  store float %v1, ptr %to1
  br label %loop
loop:
  %i = phi i64 [ 0, %then ], [ %next, %loop ]
  %sum = phi float [ 0.0, %then ], [ %more, %loop ]
  %at = getelementptr float, ptr %head1, i64 %i
  %value = load float, ptr %at
  %more = fadd float %sum, %value
  %next = add i64 %i, 1
  %end = icmp sgt i64 %next, %length
  br i1 %end, label %store, label %loop
store:
  %to = getelementptr float, ptr %sums, i64 %row
  store float %more, ptr %to
  br label %done
done:
  ret void
}

define internal i64 @index() {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 32
  %sum = add i32 %base, %tid
  %i = zext i32 %sum to i64
  ret i64 %i
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
