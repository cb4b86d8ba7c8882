//===- ElfExtents.cpp - Completeness check of ELF files -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/ElfExtents.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

using namespace attune;

static Status cutShort(const MappedFile &file, uint64_t expected) {
  return Status::error(file.path() + ": expected a shared object of at least " + std::to_string(expected) + " bytes, got " +
                       std::to_string(file.size()) + ": it is cut short");
}

/// Returns the exclusive end of |bytes| bytes at |offset|; UINT64_MAX if that overflows.
static uint64_t endOf(uint64_t offset, uint64_t bytes) { return bytes > UINT64_MAX - offset ? UINT64_MAX : offset + bytes; }

/// Returns entry |index| of the table of |Entry| structures at byte |offset|. The entry must lie within |file|.
template <typename Entry>
static Entry readEntry(const MappedFile &file, uint64_t offset, uint64_t index) {
  Entry entry;
  std::memcpy(&entry, file.data() + offset + index * sizeof(Entry), sizeof(Entry));
  return entry;
}

Status attune::checkElfExtents(const MappedFile &file) {
  Elf64_Ehdr header;
  if (file.size() < sizeof(header))
    return cutShort(file, sizeof(header));
  std::memcpy(&header, file.data(), sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return {};

  uint64_t end = endOf(header.e_phoff, uint64_t(header.e_phnum) * sizeof(Elf64_Phdr));
  bool hasSections = header.e_shoff != 0;
  uint64_t numSections = header.e_shnum;
  if (hasSections)
    end = std::max(end, endOf(header.e_shoff, std::max<uint64_t>(numSections, 1) * sizeof(Elf64_Shdr)));
  if (end > file.size())
    return cutShort(file, end);
  // The first entry of the section table holds the number of sections if the field of the header is too small for it.
  if (hasSections && numSections == 0) {
    numSections = readEntry<Elf64_Shdr>(file, header.e_shoff, 0).sh_size;
    uint64_t room = (file.size() - header.e_shoff) / sizeof(Elf64_Shdr);
    if (numSections > room)
      return Status::error(file.path() + ": expected a table of " + std::to_string(numSections) + " sections, got room for " +
                           std::to_string(room) + ": the file is cut short");
  }
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    auto segment = readEntry<Elf64_Phdr>(file, header.e_phoff, i);
    end = std::max(end, segment.p_filesz ? endOf(segment.p_offset, segment.p_filesz) : 0);
  }
  for (uint64_t i = 0; hasSections && i < numSections; ++i) {
    auto section = readEntry<Elf64_Shdr>(file, header.e_shoff, i);
    if (section.sh_type != SHT_NULL && section.sh_type != SHT_NOBITS)
      end = std::max(end, endOf(section.sh_offset, section.sh_size));
  }
  return end > file.size() ? cutShort(file, end) : Status();
}
