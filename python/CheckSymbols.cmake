#===- CheckSymbols.cmake - Undefined symbols of the Python module ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DNM=NM -DMODULE=FILE -P CheckSymbols.cmake: fails if FILE, a shared object, has undefined symbols of Attune. The
# linker accepts them, as it does those of Python, which the interpreter has.
execute_process(COMMAND "${NM}" --dynamic --undefined-only --demangle "${MODULE}" OUTPUT_VARIABLE undefined COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "attune::[^\n]*" missing "${undefined}")
if(missing)
  list(JOIN missing "\n  " missing)
  message(FATAL_ERROR "The Python module lacks the sources of:\n  ${missing}")
endif()
