// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/certificate_table.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/base/uuid.h"

namespace sideband::attestation {
namespace {

constexpr char kVcek[] = "63da758d-e664-4564-adc5-f4b93be8accd";
constexpr char kAsk[] = "4ab7b379-bbac-4fe4-a02f-05aef327c782";
constexpr char kVlek[] = "a8074bc2-a25a-483e-aae6-39c045a0b8a1";
constexpr char kEnd[] = "00000000-0000-0000-0000-000000000000";

const Bytes kVcekDer = {1, 2, 3}, kAskDer = {4, 5}, kArkDer = {6};

Bytes Copy(ByteSpan bytes) { return Bytes(bytes.begin(), bytes.end()); }

void AddEntry(const std::string& guid, uint32_t offset, uint32_t length, ByteWriter& out) {
  out.Raw(Uuid::Parse(guid)->bytes);
  out.U32(offset);
  out.U32(length);
}

TEST(CertificateTableTest, ComesBack) {
  const Bytes table = EncodeCertificateTable({.vcek = kVcekDer, .ask = kAskDer, .ark = kArkDer});
  const auto parsed = ParseCertificateTable(table);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(Copy(parsed->vcek), kVcekDer);
  EXPECT_EQ(Copy(parsed->ask), kAskDer);
  EXPECT_EQ(Copy(parsed->ark), kArkDer);
}

// GUIDs are in the order of their text, as libuuid (AMD's sev-tool) and go-sev-guest write them.
TEST(CertificateTableTest, IsLaidOutAsSpecified) {
  ByteWriter expected;
  AddEntry(kVcek, 72, 3, expected);
  AddEntry(kAsk, 75, 2, expected);
  AddEntry(kEnd, 0, 0, expected);
  expected.Raw(kVcekDer);
  expected.Raw(kAskDer);
  EXPECT_EQ(EncodeCertificateTable({.vcek = kVcekDer, .ask = kAskDer}), Copy(expected.written()));
}

TEST(CertificateTableTest, EveryCutIsRefused) {
  const Bytes table = EncodeCertificateTable({.vcek = kVcekDer, .ask = kAskDer, .ark = kArkDer});
  for (size_t size = 0; size < table.size(); ++size) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseCertificateTable(ByteSpan(table).first(size)).status())) << size;
  }
}

TEST(CertificateTableTest, EntriesAreBounded) {
  for (const size_t entries : {size_t{0}, kTableEntriesMax, kTableEntriesMax + 1}) {
    ByteWriter table;
    for (size_t i = 0; i < entries; ++i) AddEntry(kVlek, 0, 24, table);
    AddEntry(kEnd, 0, 0, table);
    EXPECT_EQ(ParseCertificateTable(table.written()).ok(), entries <= kTableEntriesMax) << entries;
  }
}

TEST(CertificateTableTest, BytesAreBounded) {
  EXPECT_TRUE(ParseCertificateTable(Bytes(kTableBytesMax)).ok());
  EXPECT_FALSE(ParseCertificateTable(Bytes(kTableBytesMax + 1)).ok());
}

TEST(CertificateTableTest, RefersWithinItselfAlone) {
  const struct {
    const char* what;
    const char* guid;
    uint32_t offset, length;
    bool is_accepted;
  } rows[] = {
      {"to the entries themselves", kVcek, 0, 48, true},
      {"to nothing, at the end", kVcek, 48, 0, true},
      {"one byte beyond", kVcek, 0, 49, false},
      {"from beyond the end", kVcek, 49, 0, false},
      {"offset and length overflow", kVcek, 0xFFFFFFFF, 0xFFFFFFFF, false},
      {"the sum wraps around", kVcek, 24, 0xFFFFFFE8, false},
      {"beyond, of a GUID that is skipped", kVlek, 0, 49, false},
  };
  for (const auto& row : rows) {
    ByteWriter table;
    AddEntry(row.guid, row.offset, row.length, table);
    AddEntry(kEnd, 0, 0, table);
    EXPECT_EQ(ParseCertificateTable(table.written()).ok(), row.is_accepted) << row.what;
  }
}

TEST(CertificateTableTest, RefusesACertificateTwice) {
  ByteWriter table;
  AddEntry(kVcek, 0, 24, table);
  AddEntry(kVcek, 0, 24, table);
  AddEntry(kEnd, 0, 0, table);
  EXPECT_TRUE(absl::IsInvalidArgument(ParseCertificateTable(table.written()).status()));
}

TEST(CertificateTableTest, MayBeEmptyAndSkipsOtherGuids) {
  ByteWriter table;
  AddEntry(kVlek, 0, 24, table);
  AddEntry(kEnd, 0, 0, table);
  const auto parsed = ParseCertificateTable(table.written());
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed->vcek.empty() && parsed->ask.empty() && parsed->ark.empty());
}

}  // namespace
}  // namespace sideband::attestation
