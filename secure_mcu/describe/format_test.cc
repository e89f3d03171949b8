// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/describe/format.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/describe/describe.h"

namespace sideband::mcu {
namespace {

constexpr const char* kExamples[] = {"deploy/examples/chip.yaml", "deploy/examples/chip-large.yaml"};

Description DescribeFile(const std::string& path) {
  const auto file = LoadChipFile(path);
  EXPECT_TRUE(file.ok()) << file.status();
  const auto description = Describe(*file);
  EXPECT_TRUE(description.ok()) << description.status();
  return *description;
}

TEST(FormatTest, TheReadmeShowsWhatIsPrinted) {
  std::ifstream file("secure_mcu/describe/README.md");
  std::stringstream readme;
  readme << file.rdbuf();
  for (const char* path : kExamples) {
    const std::string text = FormatTree(DescribeFile(path));
    EXPECT_NE(readme.str().find(text), std::string::npos) << text;
  }
}

TEST(FormatTest, JsonHasTheSameNumbers) {
  for (const char* path : kExamples) {
    const Description description = DescribeFile(path);
    const auto json = nlohmann::json::parse(FormatJson(description));
    EXPECT_EQ(json["chip"], path);
    EXPECT_EQ(json["flip_flops"]["total"], description.registers.total());
    EXPECT_EQ(json["read_path"]["total"], description.read_path.total());
    EXPECT_EQ(json["bits_per_second"]["ulc_to_ccu"], description.traffic.ulc_to_ccu);
    EXPECT_EQ(json["flat_design"]["flip_flops"], description.flat.registers);
    EXPECT_EQ(json["snapshot_read"]["stream_bytes"], description.snapshot.stream_bytes);
    EXPECT_EQ(json["slices"].size(), description.slices.size());
    EXPECT_EQ(json["memory"]["blocks"], description.blocks);
    EXPECT_EQ(json["memory"]["page_table_bytes"], description.page_table_bytes);
  }
}

TEST(FormatTest, TheLargeChipFoldsIntoOneLinePerLevel) {
  const auto json = nlohmann::json::parse(FormatJson(DescribeFile(kExamples[1])));
  ASSERT_EQ(json["slices"].size(), 1u);
  EXPECT_EQ(json["slices"][0]["count"], 8);
  ASSERT_EQ(json["slices"][0]["ccus"].size(), 2u) << "those of the file, and that of the resident cycles";
  EXPECT_EQ(json["slices"][0]["ccus"][0]["count"], 8);
  EXPECT_EQ(json["slices"][0]["ccus"][0]["ulcs"][0]["count"], 48);
  EXPECT_EQ(json["slices"][0]["ccus"][0]["ulcs"][0]["serial_cycles"], 407);
  EXPECT_EQ(json["flat_design"]["wires"], 138'240 + 8);
  EXPECT_EQ(json["flip_flops"]["ulc_counters"], (138'240 + 8) * 9);
}

TEST(FormatTest, ShowsTheClockDomains) {
  const std::string path = testing::TempDir() + "describe_domains.yaml";
  std::ofstream(path) << "device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}\n"
                         "domains:\n"
                         "  - {name: sm, hz: 500000000, ppm: 50, wire_ns: [5, 50]}\n"
                         "  - {name: l2, hz: 500000000, gated: [{from: 1ms, to: 2ms}], announces: false}\n"
                         "units: [{name: sm, events: [busy], domain: sm}, {name: l2, events: [hits], domain: l2}]\n"
                         "vms: [{name: vm1, uuid: 11111111-0000-4000-8000-000000000001, contexts: []}]\n";
  const Description description = DescribeFile(path);
  const std::string text = FormatTree(description);
  EXPECT_NE(text.find("├─ clock domains\n"
                      "│  ├─ sm: 500,000,000 Hz, period 2.000 to 2.000 ns, samples a trigger after 8.000 to 57.000 ns, "
                      "wander 0.000 ns\n"
                      "│  └─ l2: 500,000,000 Hz, period 2.000 ns or more, samples a trigger after 3.000 ns or more, "
                      "wander 0.000 ns, changes unannounced\n"),
            std::string::npos)
      << text;
  const auto json = nlohmann::json::parse(FormatJson(description));
  ASSERT_EQ(json["domains"].size(), 2u);
  EXPECT_EQ(json["domains"][1]["longest"], 0);
}

TEST(FormatTest, NothingIsDividedByNothing) {
  const Description nothing{.path = "a\xFF.yaml", .clock_hz = 1};
  EXPECT_NE(FormatTree(nothing).find("bits, times all that the pipeline moves"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(FormatJson(nothing))["flat_design"]["bits_ratio"].is_null());
}

}  // namespace
}  // namespace sideband::mcu
