target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @f(ptr %x) {
  %now = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
  store i64 %now, ptr %x
  ret void
}
declare i64 @llvm.nvvm.read.ptx.sreg.clock64()
