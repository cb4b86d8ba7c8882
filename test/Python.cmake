#===- Python.cmake - The Python that runs the tests ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The system's Python, for which scripts/setup installs numpy. The first one on the PATH may be that of a version manager
# or of an active environment. -DPython3_EXECUTABLE=FILE chooses another.

if(NOT Python3_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python3_EXECUTABLE /usr/bin/python3)
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
