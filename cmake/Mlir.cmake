#===- Mlir.cmake - LLVM and MLIR for the compiler --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Finds MLIR as a shared library. The version is 22.1 because the version file of the package requires the minor number.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
set(MLIR_LINK_MLIR_DYLIB ON)
set(LLVM_RUNTIME_OUTPUT_INTDIR ${PROJECT_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${PROJECT_BINARY_DIR}/lib)
set(MLIR_BINARY_DIR ${PROJECT_BINARY_DIR})
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)
# LLVM's function passes the build folder to the linker without quotes, which breaks if the path has a space; CMake's
# own rpath is enough here.
function(llvm_setup_rpath)
endfunction()
# MLIR's headers and templates dominate compile times: headers are precompiled once, with RtIR, and shared by every
# target above the model dialect. These targets are unity builds, unless a build is for editing.
option(ATTUNE_PCH "Precompile MLIR's headers" ON)
set(ATTUNE_UNITY 8 CACHE STRING "Sources that are compiled as one, 0 for each by itself")
function(attune_use_pch target)
  if(ATTUNE_PCH)
    target_precompile_headers(${target} REUSE_FROM RtIR)
  endif()
  if(ATTUNE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${ATTUNE_UNITY})
  endif()
endfunction()

# Folders may contain sources of several targets, which LLVM's own check rejects.
function(llvm_check_source_file_list)
endfunction()

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
link_directories(${LLVM_BUILD_LIBRARY_DIR})
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${LLVM_DEFINITIONS_LIST})
