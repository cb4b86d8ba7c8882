// RUN: attune-opt --split-input-file --verify-diagnostics %s

// Attributes that phases hand each other are of one kind each.
// expected-error @below {{expects 'xfmr.workspace' to be a dictionary of strings, but got 8}}
module attributes {xfmr.workspace = 8 : i64} {
}
