// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/snp_report.h"

#include <algorithm>

#include "absl/status/status.h"

namespace sideband::attestation {
namespace {

constexpr size_t kSignatureEnd = kSnpSignedBytes + 2 * sizeof(SnpNumber);
static_assert(kSignatureEnd + 368 == kSnpReportBytes);

// The layout: calls field(offset, member) for each field. `Report` is SnpReport, const or not.
template <typename Report, typename Field>
void ForEachField(Report& report, Field field) {
  field(0x000, report.version);
  field(0x004, report.guest_svn);
  field(0x008, report.policy);
  field(0x010, report.family_id);
  field(0x020, report.image_id);
  field(0x030, report.vmpl);
  field(0x034, report.signature_algorithm);
  field(0x038, report.current_tcb);
  field(0x040, report.platform_info);
  field(0x048, report.flags);
  field(0x050, report.report_data);
  field(0x090, report.measurement);
  field(0x0C0, report.host_data);
  field(0x0E0, report.id_key_digest);
  field(0x110, report.author_key_digest);
  field(0x140, report.report_id);
  field(0x160, report.report_id_ma);
  field(0x180, report.reported_tcb);
  field(0x1A0, report.chip_id);
  field(0x1E0, report.committed_tcb);
  field(0x1E8, report.current_version);
  field(0x1EC, report.committed_version);
  field(0x1F0, report.launch_tcb);
  field(kSnpSignedBytes, report.r);
  field(kSnpSignedBytes + sizeof(SnpNumber), report.s);
}

void Read(ByteReader& in, uint32_t& out) { out = in.U32(); }
void Read(ByteReader& in, uint64_t& out) { out = in.U64(); }

template <size_t kSize>
void Read(ByteReader& in, std::array<uint8_t, kSize>& out) {
  std::ranges::copy(in.Raw(kSize), out.begin());
}

void Read(ByteReader& in, TcbVersion& out) {
  std::array<uint8_t, 8> bytes{};
  Read(in, bytes);
  out = {.boot_loader = bytes[0], .tee = bytes[1], .snp = bytes[6], .microcode = bytes[7]};
}

void Read(ByteReader& in, FirmwareVersion& out) {
  out.build = in.U8();
  out.minor = in.U8();
  out.major = in.U8();
}

void Write(uint32_t value, ByteWriter& out) { out.U32(value); }
void Write(uint64_t value, ByteWriter& out) { out.U64(value); }

template <size_t kSize>
void Write(const std::array<uint8_t, kSize>& bytes, ByteWriter& out) {
  out.Raw(bytes);
}

void Write(const TcbVersion& tcb, ByteWriter& out) {
  Write(std::array<uint8_t, 8>{tcb.boot_loader, tcb.tee, 0, 0, 0, 0, tcb.snp, tcb.microcode}, out);
}

void Write(const FirmwareVersion& version, ByteWriter& out) {
  out.U8(version.build);
  out.U8(version.minor);
  out.U8(version.major);
}

}  // namespace

absl::StatusOr<SnpReport> ParseSnpReport(ByteSpan bytes) {
  if (bytes.size() != kSnpReportBytes) return absl::InvalidArgumentError("SEV-SNP report of a wrong length");
  SnpReport report;
  ForEachField(report, [&](size_t offset, auto& field) {
    ByteReader in(bytes.subspan(offset));
    Read(in, field);
  });
  if (report.version < kSnpReportVersionMin || report.version > kSnpReportVersionMax) {
    return absl::InvalidArgumentError("SEV-SNP report of an unknown version");
  }
  // Outside what is signed: it would let a report have many forms.
  if (std::ranges::any_of(bytes.subspan(kSignatureEnd), [](uint8_t byte) { return byte != 0; })) {
    return absl::InvalidArgumentError("SEV-SNP report with something behind its signature");
  }
  return report;
}

Bytes EncodeSnpReport(const SnpReport& report) {
  Bytes bytes(kSnpReportBytes);
  ForEachField(report, [&](size_t offset, const auto& field) {
    ByteWriter out;
    Write(field, out);
    std::ranges::copy(out.written(), bytes.begin() + static_cast<ptrdiff_t>(offset));
  });
  return bytes;
}

}  // namespace sideband::attestation
