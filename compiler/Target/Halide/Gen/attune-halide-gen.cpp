//===- attune-halide-gen.cpp - Kernel descriptions to code, by Halide -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program that compiles kernel descriptions (see ../README.md) by Halide to bitcode, an object or assembly, or
// prints their loops or Halide statements. It is a program of its own, because Halide's LLVM and the compiler's LLVM
// must not share an address space.
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/Gen/Schedule.h"

#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

using namespace attune;

namespace {

struct Options {
  std::string input, output = "-", emit = "stmt", schedule = "auto";
  int bits = 512;
  ScheduleOptions rules;
};

const char *const kUsage = "usage: attune-halide-gen KERNELS [flags]\n"
                           "Makes code of kernel descriptions ('-' for standard input).\n\n"
                           "  --emit=bitcode|object|assembly|stmt|loops   what to write (stmt)\n"
                           "  --schedule=auto|none                        by rules, or one element at a time (auto)\n"
                           "  --vector-bits=256|512                       AVX2 with FMA, or AVX-512 (512)\n"
                           "  --tile=ROWSxCOLUMNS                         register tile (12x32, or 6x16 for 256 bits)\n"
                           "  --prefetch-ahead=BYTES                      how far ahead tiles of few rows ask for weights (16384)\n"
                           "  -o FILE                                     output (standard output)\n";

} // namespace

/// Returns the value of the flag |name| at arguments[i]: --name=VALUE, --name VALUE or, for a name of one letter, -n
/// VALUE. If VALUE is an argument of its own, advances |i| to it. Returns nullopt if arguments[i] is not this flag.
static std::optional<std::string> valueOf(const std::vector<std::string> &arguments, size_t &i, const std::string &name) {
  std::string flag = name.size() == 1 ? "-" + name : "--" + name;
  if (arguments[i] == flag && i + 1 < arguments.size())
    return arguments[++i];
  if (name.size() > 1 && arguments[i].compare(0, flag.size() + 1, flag + "=") == 0)
    return arguments[i].substr(flag.size() + 1);
  return std::nullopt;
}

static void expectOneOf(const std::string &flag, const std::string &value, const std::vector<std::string> &choices) {
  std::string list;
  for (const std::string &choice : choices) {
    if (choice == value)
      return;
    list += (list.empty() ? "" : ", ") + choice;
  }
  throw DescriptionError("--" + flag + ": expected " + list + ", got '" + value + "'");
}

static Options parseArguments(const std::vector<std::string> &arguments) {
  Options options;
  std::optional<std::string> tile, ahead;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (auto emit = valueOf(arguments, i, "emit"))
      options.emit = *emit;
    else if (auto schedule = valueOf(arguments, i, "schedule"))
      options.schedule = *schedule;
    else if (auto bits = valueOf(arguments, i, "vector-bits"))
      expectOneOf("vector-bits", *bits, {"256", "512"}), options.bits = std::stoi(*bits);
    else if (auto given = valueOf(arguments, i, "tile"))
      tile = given;
    else if (auto given = valueOf(arguments, i, "prefetch-ahead"))
      ahead = given;
    else if (auto output = valueOf(arguments, i, "o"))
      options.output = *output;
    else if (arguments[i].size() > 1 && arguments[i][0] == '-')
      throw DescriptionError("unknown flag '" + arguments[i] + "'");
    else if (options.input.empty())
      options.input = arguments[i];
    else
      throw DescriptionError("expected one file, got '" + options.input + "' and '" + arguments[i] + "'");
  }
  expectOneOf("emit", options.emit, {"bitcode", "object", "assembly", "stmt", "loops"});
  expectOneOf("schedule", options.schedule, {"auto", "none"});
  if (options.bits == 256)
    options.rules.lanes = 8, options.rules.tileRows = 6, options.rules.tileColumns = 16;
  char separator = 0, rest = 0;
  if (tile) {
    std::istringstream stream(*tile);
    if (!(stream >> options.rules.tileRows >> separator >> options.rules.tileColumns) || separator != 'x' || stream >> rest ||
        options.rules.tileRows < 1 || options.rules.tileColumns < options.rules.lanes ||
        options.rules.tileColumns % options.rules.lanes != 0)
      throw DescriptionError("--tile: expected ROWSxCOLUMNS with columns in whole vectors of " + std::to_string(options.rules.lanes) +
                             ", got '" + *tile + "'");
  }
  if (ahead) {
    std::istringstream stream(*ahead);
    if (!(stream >> options.rules.prefetchAhead) || stream >> rest || options.rules.prefetchAhead < 0 ||
        options.rules.prefetchAhead > (1 << 20))
      throw DescriptionError("--prefetch-ahead: expected 0 to 1048576 bytes, got '" + *ahead + "'");
  }
  if (options.input.empty())
    throw DescriptionError("expected a file of kernels, or '-'");
  return options;
}

/// Returns the Halide target for |options|. Kernels for it need no Halide runtime and do not check their buffers.
static Halide::Target targetFor(const Options &options) {
  Halide::Target target("x86-64-linux-no_runtime-no_asserts-no_bounds_query-sse41-avx-f16c-fma-avx2");
  if (options.bits == 512)
    target.set_features({Halide::Target::AVX512, Halide::Target::AVX512_Skylake});
  if (options.schedule == "none")
    target.set_feature(Halide::Target::StrictFloat);
  return target;
}

static std::string readFile(const std::string &path) {
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file)
      throw DescriptionError("cannot open '" + path + "'");
  }
  std::istream &stream = path == "-" ? std::cin : file;
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// Returns the loop nest of |pipeline| as text. Halide prints it to the standard error, which this function redirects
/// for the time of the call.
static std::string loopNest(Halide::Pipeline pipeline) {
  std::ostringstream text;
  std::streambuf *former = std::cerr.rdbuf(text.rdbuf());
  pipeline.print_loop_nest();
  std::cerr.rdbuf(former);
  return text.str();
}

static void write(const Options &options, const std::vector<Halide::Module> &modules, const std::string &loops) {
  if (options.emit == "loops" || options.emit == "stmt") {
    std::ofstream file;
    if (options.output != "-")
      file.open(options.output);
    std::ostream &stream = options.output == "-" ? std::cout : file;
    stream << loops;
    if (options.emit == "stmt")
      for (const Halide::Module &module : modules)
        stream << module;
    if (!stream.flush())
      throw DescriptionError("cannot write '" + options.output + "'");
    return;
  }
  static const std::map<std::string, Halide::OutputFileType> kinds = {{"bitcode", Halide::OutputFileType::bitcode},
                                                                      {"object", Halide::OutputFileType::object},
                                                                      {"assembly", Halide::OutputFileType::assembly}};
  std::string path = options.output == "-" ? "/dev/stdout" : options.output;
  Halide::link_modules("attune_kernels", modules).compile({{kinds.at(options.emit), path}});
}

static void run(const Options &options) {
  std::vector<Halide::Module> modules;
  std::string loops;
  for (const Description &description : parseDescriptions(readFile(options.input)))
    try {
      bool byRules = options.schedule == "auto";
      Plan plan(description);
      Algorithm algorithm(description, byRules ? &plan : nullptr, options.rules);
      std::vector<PanelRead> panels;
      if (byRules)
        panels = scheduleByRules(algorithm, plan, options.rules);
      else
        scheduleNone(algorithm, plan);
      Halide::Pipeline pipeline(algorithm.outputs);
      for (const PanelRead &panel : panels)
        pipeline.add_custom_lowering_pass(new PrefetchPanels(panel, options.rules.prefetchAhead));
      if (options.emit == "loops")
        loops += "kernel " + description.name + ":\n" + loopNest(pipeline);
      else
        modules.push_back(
            pipeline.compile_to_module(algorithm.arguments, description.name, targetFor(options), Halide::LinkageType::External));
    } catch (const DescriptionError &error) {
      throw DescriptionError("kernel '" + description.name + "': " + error.what());
    } catch (const Halide::Error &error) {
      throw DescriptionError("kernel '" + description.name + "': " + error.what());
    }
  write(options, modules, loops);
}

int main(int argc, char **argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  for (const std::string &argument : arguments)
    if (argument == "--help" || argument == "-h") {
      std::cout << kUsage;
      return 0;
    }
  try {
    run(parseArguments(arguments));
    return 0;
  } catch (const std::exception &error) {
    std::string text = error.what();
    text.erase(text.find_last_not_of('\n') + 1);
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::cerr << "attune-halide-gen: error: " << text << "\n";
    return 1;
  }
}
