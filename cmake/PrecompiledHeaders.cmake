#===- PrecompiledHeaders.cmake - Precompiled headers, unity builds ---------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

option(ATTUNE_PCH "Precompile the headers of MLIR and of nlohmann's JSON" ON)
set(ATTUNE_UNITY 16 CACHE STRING "Sources that are compiled as one, 0 for each by itself")

# attune_reuse_pch(TARGET OWNER): compiles TARGET with the precompiled headers of OWNER, which has the same flags. Clang
# forgets the diagnostic pragmas of a precompiled header, by which libstdc++ may use its own deprecated functions in
# std::stable_sort; a build without precompiled headers shows other deprecated functions.
function(attune_reuse_pch target owner)
  target_precompile_headers(${target} REUSE_FROM ${owner})
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${target} PRIVATE -Wno-deprecated-declarations)
  endif()
endfunction()

# attune_build_as_unity(TARGET): compiles the sources of TARGET in batches of ATTUNE_UNITY.
function(attune_build_as_unity target)
  if(ATTUNE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${ATTUNE_UNITY})
  endif()
endfunction()

# attune_precompile_json(TARGET [OWNER]): precompiles the headers of JSON and of the C++ library for TARGET, a library
# without LLVM, or gives it those of the target OWNER, which has the same flags.
function(attune_precompile_json target)
  if(NOT ATTUNE_PCH)
    return()
  endif()
  if(ARGN)
    attune_reuse_pch(${target} ${ARGN})
  else()
    target_precompile_headers(${target} PRIVATE
      <algorithm> <filesystem> <functional> <map> <memory> <nlohmann/json.hpp> <optional> <string> <unordered_map> <vector>)
  endif()
endfunction()
