// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/guest_view/peek.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "secure_mcu/guest_view/example_device.h"
#include "secure_mcu/guest_view/guest_views.h"

namespace sideband::mcu {
namespace {

class PeekTest : public testing::Test {
 protected:
  PeekTest() : writer_(*GuestViewWriter::Create(FreshFolder("peek"), catalog_, 2, 42)) {
    options_.file = writer_->path();
    options_.print = [this](absl::string_view text) {
      printed_.emplace_back(text);
      return absl::OkStatus();
    };
  }
  // Round numbers, for readable tables.
  mailbox::Snapshot Snapshot(uint32_t trigger) const {
    mailbox::Snapshot snapshot = ExampleSnapshot(catalog_, trigger);
    for (size_t i = 0; i < snapshot.counters.size(); ++i) snapshot.counters[i] = i * 100;
    return snapshot;
  }

  mailbox::Catalog catalog_ = ExampleCatalog();
  std::unique_ptr<GuestViewWriter> writer_;
  PeekOptions options_;
  std::vector<std::string> printed_;
};

TEST_F(PeekTest, PrintsATable) {
  ASSERT_TRUE(writer_->Publish(Snapshot(5)).ok());
  ASSERT_TRUE(RunPeek(options_).ok());
  ASSERT_EQ(printed_.size(), 1);
  EXPECT_EQ(printed_[0],
            "trigger 5 at 5000 ns\n"
            "\n"
            "event         beta-vm  beta-vm/beta-train\n"
            "(state)        active              active\n"
            "cycles           1200                1500\n"
            "instructions     1300                1600\n"
            "pcie_bytes       1400                1700\n"
            "beta-vm is flagged: overflow\n"
            "beta-vm/beta-train is flagged: overflow\n");
}

TEST_F(PeekTest, PrintsOneLineOfJson) {
  ASSERT_TRUE(writer_->Publish(Snapshot(6)).ok());
  options_.json = true;
  ASSERT_TRUE(RunPeek(options_).ok());
  EXPECT_EQ(printed_[0].find('\n'), printed_[0].size() - 1);
  const auto json = nlohmann::json::parse(printed_[0]);
  EXPECT_EQ(json["vm"], "beta-vm");
  EXPECT_EQ(json["vm_uuid"], ExampleUuid(0xB2).ToString());
  EXPECT_EQ(json["boot_id"], "000000000000002a");
  EXPECT_EQ(json["trigger_id"], 6);
  ASSERT_EQ(json["blocks"].size(), 2);
  EXPECT_EQ(json["blocks"][0]["context"], nullptr);
  EXPECT_EQ(json["blocks"][1], nlohmann::json::parse(R"({
      "vm": "beta-vm", "context": "beta-train", "generation": 1, "state": "active", "trigger_id": 6,
      "reference_time_ns": 6000, "flags": ["trigger_overrun"],
      "counters": {"cycles": 1500, "instructions": 1600, "pcie_bytes": 1700}})"));
}

TEST_F(PeekTest, WatchesThroughAReplacementUntilItIsToldToStop) {
  ASSERT_TRUE(writer_->Publish(Snapshot(1)).ok());
  int waits = 0;
  options_.watch = absl::Seconds(2);
  options_.wait = [&](absl::Duration interval) {
    EXPECT_EQ(interval, absl::Seconds(2));
    if (++waits == 1) {
      catalog_.contexts.push_back({2, 1, "beta-new", 0, 1});
      EXPECT_TRUE(writer_->Replace(catalog_, Snapshot(2)).ok());
    }
    return waits < 2;
  };
  ASSERT_TRUE(RunPeek(options_).ok());
  ASSERT_EQ(printed_.size(), 2);
  EXPECT_EQ(printed_[0].find("beta-new"), std::string::npos);
  EXPECT_NE(printed_[1].find("beta-new"), std::string::npos);
}

TEST_F(PeekTest, ReportsAViewThatIsGone) {
  ASSERT_TRUE(writer_->Publish(Snapshot(1)).ok());
  options_.watch = absl::Seconds(1);
  options_.wait = [&](absl::Duration) {
    writer_.reset();
    return true;
  };
  EXPECT_EQ(RunPeek(options_).code(), absl::StatusCode::kNotFound);
}

TEST_F(PeekTest, ReportsThatNothingIsPublished) { EXPECT_EQ(RunPeek(options_).code(), absl::StatusCode::kUnavailable); }

TEST_F(PeekTest, ReportsThatItCannotPrint) {
  ASSERT_TRUE(writer_->Publish(Snapshot(1)).ok());
  options_.print = [](absl::string_view) { return absl::DataLossError("pipe"); };
  EXPECT_EQ(RunPeek(options_).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace sideband::mcu
