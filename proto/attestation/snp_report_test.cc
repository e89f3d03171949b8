// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/snp_report.h"

#include <gtest/gtest.h>

#include <vector>

namespace sideband::attestation {
namespace {

template <typename Array>
Array Filled(uint8_t byte) {
  Array array;
  array.fill(byte);
  return array;
}

// Every field has values of its own.
SnpReport Whole() {
  return {.version = 3,
          .guest_svn = 0x11121314,
          .policy = 0x2122232425262728,
          .family_id = Filled<std::array<uint8_t, 16>>(0x31),
          .image_id = Filled<std::array<uint8_t, 16>>(0x32),
          .vmpl = 0x33343536,
          .signature_algorithm = 1,
          .current_tcb = {.boot_loader = 0x41, .tee = 0x42, .snp = 0x43, .microcode = 0x44},
          .platform_info = 0x5152535455565758,
          .flags = 0x61626364,
          .report_data = Filled<ReportData>(0x71),
          .measurement = Filled<Measurement>(0x72),
          .host_data = Filled<HostData>(0x73),
          .id_key_digest = Filled<std::array<uint8_t, 48>>(0x74),
          .author_key_digest = Filled<std::array<uint8_t, 48>>(0x75),
          .report_id = Filled<std::array<uint8_t, 32>>(0x76),
          .report_id_ma = Filled<std::array<uint8_t, 32>>(0x77),
          .reported_tcb = {.boot_loader = 0x81, .tee = 0x82, .snp = 0x83, .microcode = 0x84},
          .chip_id = Filled<ChipId>(0x91),
          .committed_tcb = {.boot_loader = 0xA1, .tee = 0xA2, .snp = 0xA3, .microcode = 0xA4},
          .current_version = {.build = 0xB1, .minor = 0xB2, .major = 0xB3},
          .committed_version = {.build = 0xC1, .minor = 0xC2, .major = 0xC3},
          .launch_tcb = {.boot_loader = 0xD1, .tee = 0xD2, .snp = 0xD3, .microcode = 0xD4},
          .r = Filled<SnpNumber>(0xE1),
          .s = Filled<SnpNumber>(0xF1)};
}

Bytes Repeated(size_t size, uint8_t byte) { return Bytes(size, byte); }

// The specification's table.
TEST(SnpReportTest, FieldsAreWhereTheSpecificationHasThem) {
  const struct {
    size_t offset;
    Bytes bytes;
  } rows[] = {
      {0x000, {3, 0, 0, 0}},
      {0x004, {0x14, 0x13, 0x12, 0x11}},
      {0x008, {0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21}},
      {0x010, Repeated(16, 0x31)},
      {0x020, Repeated(16, 0x32)},
      {0x030, {0x36, 0x35, 0x34, 0x33}},
      {0x034, {1, 0, 0, 0}},
      {0x038, {0x41, 0x42, 0, 0, 0, 0, 0x43, 0x44}},
      {0x040, {0x58, 0x57, 0x56, 0x55, 0x54, 0x53, 0x52, 0x51}},
      {0x048, {0x64, 0x63, 0x62, 0x61}},
      {0x04C, Repeated(4, 0)},
      {0x050, Repeated(64, 0x71)},
      {0x090, Repeated(48, 0x72)},
      {0x0C0, Repeated(32, 0x73)},
      {0x0E0, Repeated(48, 0x74)},
      {0x110, Repeated(48, 0x75)},
      {0x140, Repeated(32, 0x76)},
      {0x160, Repeated(32, 0x77)},
      {0x180, {0x81, 0x82, 0, 0, 0, 0, 0x83, 0x84}},
      {0x188, Repeated(24, 0)},
      {0x1A0, Repeated(64, 0x91)},
      {0x1E0, {0xA1, 0xA2, 0, 0, 0, 0, 0xA3, 0xA4}},
      {0x1E8, {0xB1, 0xB2, 0xB3, 0}},
      {0x1EC, {0xC1, 0xC2, 0xC3, 0}},
      {0x1F0, {0xD1, 0xD2, 0, 0, 0, 0, 0xD3, 0xD4}},
      {0x1F8, Repeated(168, 0)},
      {0x2A0, Repeated(72, 0xE1)},
      {0x2E8, Repeated(72, 0xF1)},
      {0x330, Repeated(368, 0)},
  };
  const Bytes report = EncodeSnpReport(Whole());
  size_t end = 0;
  for (const auto& row : rows) {
    EXPECT_EQ(row.offset, end) << "the rows leave a gap";
    end = row.offset + row.bytes.size();
    ASSERT_LE(end, report.size());
    EXPECT_EQ(Bytes(report.begin() + static_cast<ptrdiff_t>(row.offset), report.begin() + static_cast<ptrdiff_t>(end)),
              row.bytes)
        << std::hex << row.offset;
  }
  EXPECT_EQ(end, kSnpReportBytes);
  EXPECT_EQ(report.size(), kSnpReportBytes);
}

TEST(SnpReportTest, ComesBack) {
  EXPECT_EQ(*ParseSnpReport(EncodeSnpReport(Whole())), Whole());
  EXPECT_EQ(*ParseSnpReport(EncodeSnpReport({})), SnpReport());
}

TEST(SnpReportTest, RefusesOtherLengths) {
  Bytes bytes = EncodeSnpReport(Whole());
  bytes.push_back(0);
  for (size_t size = 0; size <= bytes.size(); ++size) {
    EXPECT_EQ(ParseSnpReport(ByteSpan(bytes).first(size)).ok(), size == kSnpReportBytes) << size;
  }
}

TEST(SnpReportTest, RefusesOtherVersions) {
  for (const uint32_t version : {0u, 1u, 2u, 5u, 6u, 0xFFFFFFFFu}) {
    SnpReport report = Whole();
    report.version = version;
    EXPECT_EQ(ParseSnpReport(EncodeSnpReport(report)).ok(), version >= 2 && version <= 5) << version;
  }
}

TEST(SnpReportTest, RefusesAnythingBehindTheSignature) {
  for (const size_t offset : {size_t{0x330}, size_t{0x400}, kSnpReportBytes - 1}) {
    Bytes bytes = EncodeSnpReport(Whole());
    bytes[offset] = 1;
    EXPECT_TRUE(absl::IsInvalidArgument(ParseSnpReport(bytes).status())) << offset;
  }
}

}  // namespace

}  // namespace sideband::attestation
