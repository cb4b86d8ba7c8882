#===- PrecompiledHeaders.cmake - Headers that most sources include ---------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

option(ATTUNE_PCH "Precompile the headers of MLIR and of nlohmann's JSON" ON)

# attune_precompile_json(TARGET [OWNER]): precompiles the headers of JSON and of the C++ library for TARGET, a library
# without LLVM, or gives it those of the target OWNER, which has the same flags.
function(attune_precompile_json target)
  if(NOT ATTUNE_PCH)
    return()
  endif()
  if(ARGN)
    target_precompile_headers(${target} REUSE_FROM ${ARGN})
  else()
    target_precompile_headers(${target} PRIVATE
      <algorithm> <filesystem> <functional> <map> <memory> <nlohmann/json.hpp> <optional> <string> <unordered_map> <vector>)
  endif()
endfunction()
