#===- HelpToManual.cmake - Makes a manual page of the output of --help -----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -D TOOL=FILE -D NAME=… -D TITLE=… -D VERSION=… -D PAGE=FILE -P HelpToManual.cmake writes the page.

execute_process(COMMAND ${TOOL} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\\" "\\e" help "${help}")
string(REPLACE "-" "\\-" help "${help}")
string(REGEX REPLACE "\n([.'])" "\n\\\\&\\1" help "${help}")
# The first line has the path of the program in the build folder.
string(REPLACE "${TOOL}" "${NAME}" help "${help}")
string(TOUPPER "${NAME}" upper)
string(REPLACE "-" "\\-" name "${NAME}")
file(WRITE ${PAGE} ".TH ${upper} 1 \"\" \"${NAME} ${VERSION}\" \"Attune\"
.SH NAME
${name} \\- ${TITLE}
.SH SYNOPSIS
.B ${name}
[flags] [file]
.SH OPTIONS
.nf
${help}.fi")
