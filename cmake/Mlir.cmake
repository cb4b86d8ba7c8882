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
# target above the model dialect. These targets are unity builds unless ATTUNE_UNITY is 0, which suits builds for editing.
function(attune_use_pch target)
  if(ATTUNE_PCH)
    attune_reuse_pch(${target} RtIR)
  endif()
  attune_build_as_unity(${target})
endfunction()

# attune_add_library(NAME …): a static library by add_mlir_library's arguments, with the precompiled headers.
function(attune_add_library name)
  add_mlir_library(${name} EXCLUDE_FROM_LIBMLIR DISABLE_INSTALL ${ARGN})
  attune_use_pch(${name})
endfunction()

# attune_add_test_tool(NAME SOURCE…): a program of the tests by LLVM's flags, with the precompiled headers.
function(attune_add_test_tool name)
  add_llvm_executable(${name} ${ARGN})
  # The headers are precompiled with -fPIC, and a program with -fPIE could not use them.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  attune_use_pch(${name})
  set_property(GLOBAL APPEND PROPERTY ATTUNE_TEST_TARGETS ${name})
endfunction()

# attune_add_passes(GROUP DOCS): generates Passes.h.inc from the folder's Passes.td, by the target <GROUP>PassesIncGen, and the page
# DOCS/<GROUP>Passes.md. A macro, because add_public_tablegen_target sets LLVM_COMMON_DEPENDS in the scope of its caller, by which
# the targets that follow in the folder depend on the generated files.
macro(attune_add_passes group docs)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name ${group})
  add_public_tablegen_target(${group}PassesIncGen)
  add_mlir_doc(Passes ${group}Passes ${docs}/ -gen-pass-doc)
endmacro()

# attune_add_dialect(NAME NAMESPACE TARGET DOCS [KIND…]): generates declarations and definitions from the folder's <NAME>Ops.td, by the
# target TARGET, and the page DOCS/<NAME>Dialect.md: operations, the dialect and what each KIND names, `Enums` or `Attrs`. A macro for
# the same reason.
macro(attune_add_dialect name namespace target docs)
  set(LLVM_TARGET_DEFINITIONS ${name}Ops.td)
  mlir_tablegen(${name}Ops.h.inc -gen-op-decls -dialect=${namespace})
  mlir_tablegen(${name}Ops.cpp.inc -gen-op-defs -dialect=${namespace})
  mlir_tablegen(${name}Dialect.h.inc -gen-dialect-decls -dialect=${namespace})
  mlir_tablegen(${name}Dialect.cpp.inc -gen-dialect-defs -dialect=${namespace})
  set(kinds ${ARGN})
  if(Enums IN_LIST kinds)
    mlir_tablegen(${name}Enums.h.inc -gen-enum-decls)
    mlir_tablegen(${name}Enums.cpp.inc -gen-enum-defs)
  endif()
  if(Attrs IN_LIST kinds)
    mlir_tablegen(${name}Attrs.h.inc -gen-attrdef-decls -attrdefs-dialect=${namespace})
    mlir_tablegen(${name}Attrs.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${namespace})
  endif()
  add_public_tablegen_target(${target})
  add_mlir_doc(${name}Ops ${name}Dialect ${docs}/ -gen-dialect-doc -dialect=${namespace})
endmacro()

# Folders may contain sources of several targets, which LLVM's own check rejects.
function(llvm_check_source_file_list)
endfunction()

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
link_directories(${LLVM_BUILD_LIBRARY_DIR})
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${LLVM_DEFINITIONS_LIST})
