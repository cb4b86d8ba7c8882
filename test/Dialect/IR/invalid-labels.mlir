// RUN: attune-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected 'xfmr.labels' to be #xfmr.labels<[...]>, got ["negative", "positive"]}}
module attributes {xfmr.labels = ["negative", "positive"]} {
}

// -----

module {
  // expected-error @below {{expected 'xfmr.labels' on a module only}}
  func.func private @f() attributes {xfmr.labels = #xfmr.labels<["negative"]>}
}

// -----

// expected-error @below {{expected at least one label}}
module attributes {xfmr.labels = #xfmr.labels<[]>} {
}

// -----

// expected-error @below {{expected label 1 to be a string without NUL, got 1 : i64}}
module attributes {xfmr.labels = #xfmr.labels<["negative", 1]>} {
}
