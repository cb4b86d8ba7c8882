//===- EntryAttrs.td - Attributes of models and entries ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An attribute `#xfmr.NAME<…>` is the value of the attribute named `xfmr.NAME` of a module, a function, an argument or
// a result.
//
//===----------------------------------------------------------------------===//
#ifndef XFMR_ENTRY_ATTRS_TD
#define XFMR_ENTRY_ATTRS_TD

include "dialect/Xfmr/IR/XfmrDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Xfmr_EntryEnum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::xfmr";
}

// The numbers are those of attune_cache_use in attune/abi.h.
def Xfmr_CacheUse : Xfmr_EntryEnum<"CacheUse", "use of the caches of a session by an entry", [
    I32EnumAttrCase<"Unused", 0, "unused">, I32EnumAttrCase<"Encode", 1, "encode">, I32EnumAttrCase<"Append", 2, "append">,
    I32EnumAttrCase<"Continue", 3, "continue">]>;

// The numbers are those of attune_fill in attune/abi.h.
def Xfmr_InputDefault : Xfmr_EntryEnum<"InputDefault", "the value of an input that a caller omits", [
    I32EnumAttrCase<"Required", 0, "required">, I32EnumAttrCase<"Zeros", 1, "zeros">, I32EnumAttrCase<"Ones", 2, "ones">,
    I32EnumAttrCase<"Arange", 3, "arange">, I32EnumAttrCase<"Tokens", 4, "tokens">, I32EnumAttrCase<"Slots", 5, "slots">,
    I32EnumAttrCase<"Sources", 6, "sources">, I32EnumAttrCase<"PastLengths", 7, "past_lengths">,
    I32EnumAttrCase<"SourceLengths", 8, "source_lengths">]>;

def Xfmr_SessionDim : Xfmr_EntryEnum<"SessionDim", "a dim that the session knows and that no input has", [
    I32EnumAttrCase<"Past", 0, "past">, I32EnumAttrCase<"SourceLength", 1, "source_length">]>;

class Xfmr_EntryAttribute<string name, string mnem> : AttrDef<Xfmr_Dialect, name> {
  let mnemonic = mnem;
  let genVerifyDecl = 1;
}

def Xfmr_EntryAttr : Xfmr_EntryAttribute<"Entry", "entry"> {
  let summary = "an entry: a function that applications call";
  let description = [{
    Stands on a public function. `name`, of letters, digits and underscores, is the entry's name in the C API; it is
    unique in a module with `xfmr.model`. `caches` says what the entry does with the caches of a session, the memory
    that the runtime keeps from call to call: `encode` writes the caches of encoder states, `append` appends the keys
    and values of the call's tokens to the caches of sequences, `continue` does the same, but the call fails if a
    sequence has no tokens in its cache before it. An entry without `caches` uses no caches and takes none as arguments.

    ```mlir
    func.func @decode(…) attributes {xfmr.entry = #xfmr.entry<"decode", caches = continue>}
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
                        DefaultValuedParameter<"::mlir::xfmr::CacheUse", "::mlir::xfmr::CacheUse::Unused">:$caches);
  let assemblyFormat = "`<` $name (`,` `caches` `=` $caches^)? `>`";
}

def Xfmr_InputAttr : Xfmr_EntryAttribute<"Input", "input"> {
  let summary = "an input of an entry";
  let description = [{
    Stands on an argument of an entry. `dims` has a name for each dynamic dimension and the size of each static one;
    dimensions of the same name have the same size in a call. No dimension has the name `workers`, the number of threads
    in formulas.

    `default` is the value of an omitted input: `zeros`, `ones`, `arange` (0, 1, 2, … along the last dimension),
    `tokens` (ones; where a caller gives 0, an entry with `caches` skips the token), or a number for each sequence of
    the batch: `slots` (its cache slot; 0, 1, 2, …), `sources` (the number of its source, the encoder states that it
    reads; 0, 1, 2, … in an entry that encodes, else the source of its slot), `past_lengths` (the tokens in its slot
    before the call), `source_lengths` (the tokens of its source). Callers never give the last two. Without `default`
    the input is required. The elements of an input of integers are from 0 to `max_value - 1`; without `max_value`, any
    integer is accepted. The runtime checks inputs in host memory, not those in device memory: a call with an element
    out of range fails.

    ```mlir
    %ids: tensor<?x?xi64> {xfmr.input = #xfmr.input<"input_ids", [batch, length], max_value = 203>}
    %mask: tensor<?x?xi64> {xfmr.input = #xfmr.input<"attention_mask", [batch, length], default = ones, max_value = 2>}
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::ArrayAttr":$dims,
    DefaultValuedParameter<"::mlir::xfmr::InputDefault", "::mlir::xfmr::InputDefault::Required">:$default_value,
    DefaultValuedParameter<"int64_t", "0">:$max_value);
  let assemblyFormat = "`<` $name `,` custom<Input>($dims, $default_value, $max_value) `>`";
}

def Xfmr_OutputAttr : Xfmr_EntryAttribute<"Output", "output"> {
  let summary = "an output of an entry";
  let description = [{
    Stands on a result of an entry; from the phase `bufferized` on, on the argument that the caller provides for it.
    `dims` are as in `#xfmr.input`. With `group`, the slices along the first dimension are outputs of their own in the C
    API, named after the output: `hidden_states.0`, `hidden_states.1`, … in the example.

    ```mlir
    tensor<4x?x?x48xf32> {xfmr.output = #xfmr.output<"hidden_states", [4, batch, length, 48], group>}
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::ArrayAttr":$dims, DefaultValuedParameter<"bool", "false">:$is_group);
  let assemblyFormat = "`<` $name `,` custom<Output>($dims, $is_group) `>`";
}

def Xfmr_CacheAttr : Xfmr_EntryAttribute<"Cache", "cache"> {
  let summary = "a cache of the session";
  let description = [{
    Stands on an argument of an entry with `caches`, and on the result that is the updated cache. The first dim is
    `slots` for sequences and `sources` for the encoder states that cross attention reads. A cache holds keys in panels,
    `[slots, heads, panels, size, 64]`, or values, `[slots, heads, capacity, size]`, of f32, bf16, f16 or i8 (with four
    more components for a scale), or a mask of f32, `[slots, capacity]`. A panel has 64 keys on every machine, so that
    the content of a session does not depend on the object.

    ```mlir
    %keys: tensor<?x2x?x12x64xf32> {xfmr.cache = #xfmr.cache<"past_key_values.0.0", [slots, 2, panels, 12, 64]>}
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::ArrayAttr":$dims);
  let assemblyFormat = "`<` $name `,` custom<Dims>($dims) `>`";
}

def Xfmr_SessionDimAttr : EnumAttr<Xfmr_Dialect, Xfmr_SessionDim, "dim"> {
  let summary = "a dim that the session knows and that no input has";
  let description = [{
    Stands on an `index` argument of an entry. `past` is the largest number of tokens that a cache slot of the batch has
    before the call; `source_length` is the largest number of tokens of a source that the batch reads, the encoder
    states of one input.

    ```mlir
    %past: index {xfmr.dim = #xfmr.dim<past>}
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Xfmr_ModelAttr : Xfmr_EntryAttribute<"Model", "model"> {
  let summary = "the description of the model in the descriptor of an object";
  let description = [{
    Stands on a module. `family` is the family of models to which the importer assigns the model folder, `architecture`
    the class of the model in the transformers library. `limits` are the largest values of dims. `labels` are the names
    of the classes, in the order of the last dimension of the output `logits`. `generation` are the model's own
    generation settings, under the names that the transformers library gives them.

    ```mlir
    module attributes {xfmr.model = #xfmr.model<family = "bert", architecture = "BertForSequenceClassification",
                                                limits = {length = 512 : i64}, labels = ["negative", "positive"]>}
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$family, "::mlir::StringAttr":$architecture,
                        OptionalParameter<"::mlir::DictionaryAttr">:$limits,
                        OptionalParameter<"::mlir::ArrayAttr">:$labels,
                        OptionalParameter<"::mlir::DictionaryAttr">:$generation);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // XFMR_ENTRY_ATTRS_TD
