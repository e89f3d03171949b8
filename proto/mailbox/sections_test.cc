// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/sections.h"

#include <gtest/gtest.h>

namespace sideband::mailbox {
namespace {

const Bytes kSectionPayload = {1, 2, 3};

struct RawSection {
  uint16_t type;
  uint16_t flags;
  uint32_t length;
  Bytes payload;
};

Bytes Raw(const std::vector<RawSection>& sections) {
  ByteWriter out;
  for (const RawSection& section : sections) {
    out.U16(section.type);
    out.U16(section.flags);
    out.U32(section.length);
    out.Raw(section.payload);
  }
  return std::move(out).Take();
}

TEST(SectionsTest, TheBytesAreThoseOfTheDocument) {
  ByteWriter out;
  AppendSection(SnapshotSection::kBlocks, kSectionPayload, out);
  AppendSection(SnapshotSection::kPipelineStatistics, {}, out);
  EXPECT_EQ(std::move(out).Take(), (Bytes{1, 0, 1, 0, 3, 0, 0, 0, 1, 2, 3, 5, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(SectionsTest, KnownSectionsAreFoundAndOthersAreSkipped) {
  const Bytes bytes = Raw({{9, 0x8000, 2, {7, 7}}, {3, 1, 0, {}}, {1, 1, 3, kSectionPayload}, {0xFFFF, 0, 0, {}}});
  const auto sections = SplitSections(bytes, kCatalogSections);
  ASSERT_TRUE(sections.ok()) << sections.status();
  ASSERT_EQ(sections->size(), 2u);
  const ByteSpan* const events = FindSection(*sections, CatalogSection::kEvents);
  ASSERT_NE(events, nullptr);
  EXPECT_EQ(Bytes(events->begin(), events->end()), kSectionPayload);
  EXPECT_EQ(FindSection(*sections, CatalogSection::kEventDetails), nullptr);
}

TEST(SectionsTest, SectionsThatLieAreRefused) {
  const struct {
    const char* why;
    std::vector<RawSection> sections;
    const char* message;
  } kCases[] = {
      {"nothing", {}, "section 1 is missing"},
      {"a length beyond the end", {{1, 1, 4, kSectionPayload}}, "section 1 is truncated"},
      {"the greatest length", {{1, 1, 0xFFFFFFFF, kSectionPayload}}, "section 1 is truncated"},
      {"half a header", {{1, 1, 3, kSectionPayload}, {5, 0, 3, {1}}}, "section 5 is truncated"},
      {"a type twice", {{1, 1, 0, {}}, {1, 1, 0, {}}}, "section 1 is there twice"},
      {"an unknown type twice", {{1, 1, 0, {}}, {99, 0, 0, {}}, {99, 0, 0, {}}}, "section 99 is there twice"},
      {"an unknown type that must be known",
       {{1, 1, 0, {}}, {99, 1, 0, {}}},
       "section 99 is unknown, but must be known"},
      {"with other flags, too", {{1, 1, 0, {}}, {99, 0x8001, 0, {}}}, "section 99 is unknown, but must be known"},
  };
  for (const auto& test : kCases) {
    const auto sections = SplitSections(Raw(test.sections), kSnapshotSections);
    EXPECT_EQ(sections.status().code(), absl::StatusCode::kInvalidArgument) << test.why;
    EXPECT_EQ(sections.status().message(), test.message) << test.why;
  }
}

TEST(SectionsTest, EveryPrefixOfASectionIsRefused) {
  const Bytes bytes = Raw({{1, 1, 3, kSectionPayload}});
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(SplitSections(ByteSpan(bytes).first(size), kSnapshotSections).ok()) << size;
  }
}

TEST(SectionsTest, TheirNumberIsBounded) {
  std::vector<RawSection> sections = {{1, 1, 0, {}}};
  for (uint16_t type = 100; sections.size() < kSectionsMax; ++type) sections.push_back({type, 0, 0, {}});
  EXPECT_TRUE(SplitSections(Raw(sections), kSnapshotSections).ok());
  sections.push_back({99, 0, 0, {}});
  EXPECT_FALSE(SplitSections(Raw(sections), kSnapshotSections).ok());
}

}  // namespace
}  // namespace sideband::mailbox
