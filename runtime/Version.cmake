# The version of Attune: of the tools, the libraries and the packages. docs/formats.md says what may change with it.
set(ATTUNE_VERSION 0.2.0)
