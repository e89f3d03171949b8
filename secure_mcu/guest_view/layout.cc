// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/guest_view/layout.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"

namespace sideband::mcu {
namespace {

constexpr absl::string_view kMagic = "SBGVIEW";
constexpr uint8_t kVersion = '1';
constexpr size_t kAlignment = 64;
constexpr size_t kCrcBytes = 4;

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("guest view: ", what));
}

size_t DirectorySize(size_t catalog_bytes) {
  const size_t size = kGuestPrologueBytes + catalog_bytes + kCrcBytes;
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

absl::Status CheckOneVm(const mailbox::Catalog& catalog) {
  // DecodeCatalog has checked that every context belongs to a VM of the catalogue.
  return catalog.vms.size() == 1 ? absl::OkStatus() : Malformed("its catalogue has more than one VM, or none");
}

}  // namespace

bool IsCountedForVms(const mailbox::EventInfo& event) {
  return event.scope == mailbox::EventScope::kContext && !event.masked;
}

absl::StatusOr<mailbox::Catalog> CatalogOfVm(const mailbox::Catalog& catalog, uint16_t vm) {
  const auto found =
      std::find_if(catalog.vms.begin(), catalog.vms.end(), [&](const mailbox::VmInfo& info) { return info.id == vm; });
  if (found == catalog.vms.end()) return absl::NotFoundError(absl::StrCat("no VM ", vm, " in the catalogue"));
  mailbox::Catalog own{.device = catalog.device,
                       .reference_clock_hz = catalog.reference_clock_hz,
                       .has_had_confidential_vm = false,  // a guest must not learn about other VMs
                       .events = {},
                       .slices = {},
                       .vms = {*found},
                       .contexts = {}};
  std::copy_if(catalog.events.begin(), catalog.events.end(), std::back_inserter(own.events), &IsCountedForVms);
  std::copy_if(catalog.contexts.begin(), catalog.contexts.end(), std::back_inserter(own.contexts),
               [&](const mailbox::ContextInfo& context) { return context.vm == vm; });
  return own;
}

std::string FileNameOf(absl::string_view name) {
  std::string escaped;
  for (const char c : name) {
    const bool is_plain =
        absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || (c == '.' && !escaped.empty());
    if (is_plain) {
      escaped += c;
    } else {
      absl::StrAppendFormat(&escaped, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

std::string GuestViewFileName(absl::string_view vm_name) { return FileNameOf(vm_name) + ".sbv"; }

Bytes EncodeGuestDirectory(const GuestDirectory& directory) {
  const Bytes catalog = EncodeCatalog(directory.catalog);
  const size_t size = DirectorySize(catalog.size());
  ByteWriter out;
  for (const char c : kMagic) out.U8(static_cast<uint8_t>(c));
  out.U8(kVersion);
  out.U32(static_cast<uint32_t>(size));
  out.U32(static_cast<uint32_t>(catalog.size()));
  out.U64(directory.boot_id);
  out.Raw(catalog);
  while (out.size() < size - kCrcBytes) out.U8(0);
  out.U32(Crc32c(out.written()));
  return std::move(out).Take();
}

absl::StatusOr<size_t> GuestDirectorySize(ByteSpan prologue) {
  ByteReader in(prologue);
  const ByteSpan magic = in.Raw(kMagic.size());
  const uint8_t version = in.U8();
  const size_t size = in.U32();
  const size_t catalog_bytes = in.U32();
  if (!in.ok() || !std::equal(magic.begin(), magic.end(), kMagic.begin())) return Malformed("wrong magic");
  if (version != kVersion) return absl::UnimplementedError("guest view: unknown version");
  // Catalogue and checksum must lie within the directory.
  if (size > kGuestDirectoryBytesMax || catalog_bytes > size || size != DirectorySize(catalog_bytes)) {
    return Malformed("its sizes are inconsistent");
  }
  return size;
}

absl::StatusOr<GuestDirectory> DecodeGuestDirectory(ByteSpan bytes) {
  SIDEBAND_ASSIGN_OR_RETURN(const size_t size, GuestDirectorySize(bytes));
  if (size != bytes.size()) return Malformed("truncated");
  ByteReader crc(bytes.last(kCrcBytes));
  if (crc.U32() != Crc32c(bytes.first(size - kCrcBytes))) return absl::DataLossError("guest view: wrong checksum");
  ByteReader in(bytes.subspan(kMagic.size() + 1 + sizeof(uint32_t)));
  const size_t catalog_bytes = in.U32();
  GuestDirectory directory{.boot_id = in.U64()};
  SIDEBAND_ASSIGN_OR_RETURN(directory.catalog, mailbox::DecodeCatalog(in.Raw(catalog_bytes)));
  SIDEBAND_RETURN_IF_ERROR(CheckOneVm(directory.catalog));
  return directory;
}

// Word 0: generation 31:0, state 39:32, zero 47:40, flags 63:48. Word 1: trigger id 31:0, sequence 63:32. Word 2: time.
GuestBlockWords PackGuestBlock(const mailbox::BlockHeader& header) {
  // Other flags are of what the view does not have; its readers refuse them.
  const auto flags = static_cast<uint16_t>(header.flags & mailbox::kFlagsKnown);
  return {header.generation | uint64_t{static_cast<uint8_t>(header.state)} << 32 | uint64_t{flags} << 48,
          header.trigger_id | uint64_t{header.sequence} << 32, header.reference_time_ns};
}

absl::Status UnpackGuestBlock(std::span<const uint64_t> words, mailbox::BlockHeader& header) {
  const uint64_t state = words[0] >> 32 & 0xFFFF;
  header.flags = static_cast<uint16_t>(words[0] >> 48);
  if (state > static_cast<uint64_t>(mailbox::BlockState::kRetired) || (header.flags & ~mailbox::kFlagsKnown) != 0) {
    return absl::DataLossError("guest view: unknown block state or flag");
  }
  header.generation = static_cast<uint32_t>(words[0]);
  header.state = static_cast<mailbox::BlockState>(state);
  header.trigger_id = static_cast<uint32_t>(words[1]);
  header.sequence = static_cast<uint32_t>(words[1] >> 32);
  header.reference_time_ns = words[2];
  return absl::OkStatus();
}

}  // namespace sideband::mcu
