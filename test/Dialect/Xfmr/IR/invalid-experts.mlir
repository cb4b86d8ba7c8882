// RUN: attune-opt --split-input-file --verify-diagnostics %s

func.func @choose_c1(%s: tensor<?x8xf32>) {
  // expected-error @below {{expects 'count' from 1 to the static number of columns of 'scores', but got 9 and 'tensor<?x8xf32>'}}
  %c, %d = xfmr.choose_experts %s, 9 : tensor<?x8xf32>
  return
}

// -----

func.func @choose_c1_dynamic(%s: tensor<?x?xf32>) {
  // expected-error @below {{expects 'count' from 1 to the static number of columns of 'scores', but got 2 and 'tensor<?x?xf32>'}}
  %c, %d = xfmr.choose_experts %s, 2 : tensor<?x?xf32>
  return
}

// -----

func.func @choose_c2(%s: tensor<?x8xf32>, %b: tensor<7xf32>) {
  // expected-error @below {{expects 'bias' with an element for each of 8 experts, but got 'tensor<7xf32>'}}
  %c, %d = xfmr.choose_experts %s, 2 bias(%b : tensor<7xf32>) : tensor<?x8xf32>
  return
}

// -----

func.func @choose_c3(%s: tensor<?x8xf32>) {
  // expected-error @below {{expects 'groups', 'kept_groups' and 'group_keys' together}}
  %c, %d = xfmr.choose_experts %s, 2 {groups = 2 : i64} : tensor<?x8xf32>
  return
}

// -----

func.func @choose_c3_groups(%s: tensor<?x8xf32>) {
  // expected-error @below {{expects 'groups' from 1 to 64 that divide 8 experts, but got 3}}
  %c, %d = xfmr.choose_experts %s, 2 {group_keys = 1 : i64, groups = 3 : i64, kept_groups = 1 : i64} : tensor<?x8xf32>
  return
}

// -----

func.func @choose_c3_kept(%s: tensor<?x8xf32>) {
  // expected-error @below {{expects 'kept_groups' from 1 to 4 groups with 3 experts or more, but got 1}}
  %c, %d = xfmr.choose_experts %s, 3 {group_keys = 1 : i64, groups = 4 : i64, kept_groups = 1 : i64} : tensor<?x8xf32>
  return
}

// -----

func.func @choose_c3_keys(%s: tensor<?x8xf32>) {
  // expected-error @below {{expects 'group_keys' 1 or 2, not more than the 1 experts of a group, but got 2}}
  %c, %d = xfmr.choose_experts %s, 1 {group_keys = 2 : i64, groups = 8 : i64, kept_groups = 1 : i64} : tensor<?x8xf32>
  return
}

// -----

func.func @group_c1(%c: tensor<?x2xi64>, %s: tensor<?x2xf32>) {
  // expected-error @below {{expects a positive number of experts, but got 0}}
  %n, %t, %r = xfmr.group_by_expert %c, %s, 0 : tensor<?x2xi64>, tensor<?x2xf32>
  return
}

// -----

func.func @experts_c1(%x: tensor<?x48xf32>, %c: tensor<?x2xi64>, %s: tensor<?x3xf32>, %up: tensor<8x112x48xf32>, %down: tensor<8x48x112xf32>) {
  // expected-error @below {{expects 'choices' and 'shares' of one static number of columns, but got 'tensor<?x2xi64>' and 'tensor<?x3xf32>'}}
  %y = xfmr.experts <silu> %x choices(%c, %s : tensor<?x2xi64>, tensor<?x3xf32>) up(%up : tensor<8x112x48xf32>) down(%down : tensor<8x48x112xf32>) : tensor<?x48xf32>
  return
}

// -----

func.func @experts_c2(%x: tensor<?x48xf32>, %c: tensor<?x2xi64>, %s: tensor<?x2xf32>, %up: tensor<8x112x40xf32>, %down: tensor<8x48x112xf32>) {
  // expected-error @below {{expects 'up' [E, M, 48] and 'down' [E, N, M], but got 'tensor<8x112x40xf32>' and 'tensor<8x48x112xf32>'}}
  %y = xfmr.experts <silu> %x choices(%c, %s : tensor<?x2xi64>, tensor<?x2xf32>) up(%up : tensor<8x112x40xf32>) down(%down : tensor<8x48x112xf32>) : tensor<?x48xf32>
  return
}

// -----

func.func @experts_c2_count(%x: tensor<?x48xf32>, %c: tensor<?x2xi64>, %s: tensor<?x2xf32>, %up: tensor<8x112x48xf32>, %down: tensor<7x48x112xf32>) {
  // expected-error @below {{expects 'up' [E, M, 48] and 'down' [E, N, M], but got 'tensor<8x112x48xf32>' and 'tensor<7x48x112xf32>'}}
  %y = xfmr.experts <silu> %x choices(%c, %s : tensor<?x2xi64>, tensor<?x2xf32>) up(%up : tensor<8x112x48xf32>) down(%down : tensor<7x48x112xf32>) : tensor<?x48xf32>
  return
}

// -----

func.func @experts_c2_gate(%x: tensor<?x48xf32>, %c: tensor<?x2xi64>, %s: tensor<?x2xf32>, %up: tensor<8x112x48xf32>, %down: tensor<8x48x112xf32>, %g: tensor<8x110x48xf32>) {
  // expected-error @below {{expects 'gate' of the type of 'up', 'tensor<8x112x48xf32>', but got 'tensor<8x110x48xf32>'}}
  %y = xfmr.experts <silu> %x choices(%c, %s : tensor<?x2xi64>, tensor<?x2xf32>) up(%up : tensor<8x112x48xf32>) down(%down : tensor<8x48x112xf32>) gate(%g : tensor<8x110x48xf32>) : tensor<?x48xf32>
  return
}

// -----

func.func @experts_c3(%x: tensor<?x48xf32>, %c: tensor<?x2xi64>, %s: tensor<?x2xf32>, %up: tensor<8x112x48xf32>, %down: tensor<8x48x112xf32>, %b: tensor<8x112xf32>) {
  // expected-error @below {{expects biases of all stacks or of none}}
  %y = xfmr.experts <silu> %x choices(%c, %s : tensor<?x2xi64>, tensor<?x2xf32>) up(%up, %b : tensor<8x112x48xf32>, tensor<8x112xf32>) down(%down : tensor<8x48x112xf32>) : tensor<?x48xf32>
  return
}

// -----

func.func @experts_c3_shape(%x: tensor<?x48xf32>, %c: tensor<?x2xi64>, %s: tensor<?x2xf32>, %up: tensor<8x112x48xf32>, %down: tensor<8x48x112xf32>, %b: tensor<8x112xf32>) {
  // expected-error @below {{expects 'down_bias' of shape [8, 48], but got 'tensor<8x112xf32>'}}
  %y = xfmr.experts <silu> %x choices(%c, %s : tensor<?x2xi64>, tensor<?x2xf32>) up(%up, %b : tensor<8x112x48xf32>, tensor<8x112xf32>) down(%down, %b : tensor<8x48x112xf32>, tensor<8x112xf32>) : tensor<?x48xf32>
  return
}

// -----

func.func @experts_c4(%x: tensor<?x48xf32>, %c: tensor<?x2xi64>, %s: tensor<?x2xf32>, %up: tensor<8x112x48xf32>, %down: tensor<8x48x112xf32>) {
  // expected-error @below {{expects 'glu_limit' and 'glu_alpha' together}}
  %y = xfmr.experts <none> %x choices(%c, %s : tensor<?x2xi64>, tensor<?x2xf32>) up(%up : tensor<8x112x48xf32>) down(%down : tensor<8x48x112xf32>) {glu_limit = 7.0 : f64} : tensor<?x48xf32>
  return
}

// -----

func.func @experts_c4_gate(%x: tensor<?x48xf32>, %c: tensor<?x2xi64>, %s: tensor<?x2xf32>, %up: tensor<8x112x48xf32>, %down: tensor<8x48x112xf32>) {
  // expected-error @below {{expects 'gate' and no activation for 'glu_limit'}}
  %y = xfmr.experts <none> %x choices(%c, %s : tensor<?x2xi64>, tensor<?x2xf32>) up(%up : tensor<8x112x48xf32>) down(%down : tensor<8x48x112xf32>) {glu_limit = 7.0 : f64, glu_alpha = 1.0 : f64} : tensor<?x48xf32>
  return
}

// -----

func.func @experts_c4_limit(%x: tensor<?x48xf32>, %c: tensor<?x2xi64>, %s: tensor<?x2xf32>, %up: tensor<8x112x48xf32>, %down: tensor<8x48x112xf32>) {
  // expected-error @below {{expects a positive 'glu_limit', but got 0.000000e+00 : f64}}
  %y = xfmr.experts <none> %x choices(%c, %s : tensor<?x2xi64>, tensor<?x2xf32>) up(%up : tensor<8x112x48xf32>) down(%down : tensor<8x48x112xf32>) gate(%up : tensor<8x112x48xf32>) {glu_limit = 0.0 : f64, glu_alpha = 1.0 : f64} : tensor<?x48xf32>
  return
}

// -----

func.func @group_c1(%c: tensor<?x2xi64>, %s: tensor<?x2xf32>) {
  // expected-error @below {{expects a positive number of experts, but got 0}}
  %o, %t, %r = xfmr.group_by_expert %c, %s, 0 : tensor<?x2xi64>, tensor<?x2xf32>
  return
}

// -----

func.func @list_c1(%c: tensor<?x2xi64>, %s: tensor<?x2xf32>) {
  // expected-error @below {{expects a positive number of experts, but got 0}}
  %n, %t, %r = xfmr.list_by_expert %c, %s, 0 : tensor<?x2xi64>, tensor<?x2xf32>
  return
}

// -----

func.func @list_c1_choices(%c: tensor<?x2xi64>, %s: tensor<?x3xf32>) {
  // expected-error @below {{expects 'choices' and 'shares' of one static number of columns, but got 'tensor<?x2xi64>' and 'tensor<?x3xf32>'}}
  %n, %t, %r = xfmr.list_by_expert %c, %s, 4 : tensor<?x2xi64>, tensor<?x3xf32>
  return
}

// -----

func.func @add_rows_c1_factors(%r: tensor<4x48xf32>, %f: tensor<3xf32>, %sum: tensor<?x48xf32>, %t: tensor<?xi64>) {
  // expected-error @below {{expects an element for each row of 'tensor<4x48xf32>', but got 'tensor<3xf32>'}}
  %y = xfmr.add_rows %r, %f to %sum at %t : tensor<4x48xf32>, tensor<3xf32> to tensor<?x48xf32>
  return
}

// -----

func.func @add_rows_c1(%r: tensor<?x40xf32>, %f: tensor<?xf32>, %sum: tensor<?x48xf32>, %t: tensor<?xi64>) {
  // expected-error @below {{expects 'rows' and 'sum' of one number of columns, but got 'tensor<?x40xf32>' and 'tensor<?x48xf32>'}}
  %y = xfmr.add_rows %r, %f to %sum at %t : tensor<?x40xf32>, tensor<?xf32> to tensor<?x48xf32>
  return
}

// -----

func.func @select_c1(%w: tensor<8xf32>, %e: index) {
  // expected-error @below {{expects a stack of rank 2 or more, but got 'tensor<8xf32>'}}
  %y = xfmr.weight_select %w[%e] : tensor<8xf32>
  return
}

// -----

// expected-error @below {{expects sources of one type, but got 'tensor<4x2xf32>' and 'tensor<4x3xf32>'}}
xfmr.weight @s : tensor<2x4x2xf32> = #xfmr.stack<[#xfmr.tensor<"a" : tensor<4x2xf32>>, #xfmr.tensor<"b" : tensor<4x3xf32>>]>

// -----

// expected-error @below {{expects at least one source}}
xfmr.weight @s : tensor<2x4x2xf32> = #xfmr.stack<[]>

// -----

func.func @experts_c3_gate(%x: tensor<?x48xf32>, %c: tensor<?x2xi64>, %s: tensor<?x2xf32>, %up: tensor<8x112x48xf32>, %down: tensor<8x40x112xf32>,
                           %b: tensor<8x112xf32>, %d: tensor<8x40xf32>) -> tensor<?x40xf32> {
  // expected-error @below {{expects biases of all stacks or of none}}
  %y = "xfmr.experts"(%x, %c, %s, %up, %b, %down, %d, %b) <{activation = #xfmr.activation<silu>,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 1>}> : (tensor<?x48xf32>, tensor<?x2xi64>, tensor<?x2xf32>,
    tensor<8x112x48xf32>, tensor<8x112xf32>, tensor<8x40x112xf32>, tensor<8x40xf32>, tensor<8x112xf32>) -> tensor<?x40xf32>
  return %y : tensor<?x40xf32>
}
