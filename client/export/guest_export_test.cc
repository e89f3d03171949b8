// SPDX-License-Identifier: Apache-2.0
#include "client/export/guest_export.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"

namespace sideband::client {
namespace {

class GuestExportTest : public testing::Test {
 protected:
  static v1::Snapshot ASnapshot() {
    v1::Snapshot snapshot;
    snapshot.set_reference_time_ns(5);
    return snapshot;
  }
  void Open() { export_.Opened({.device = "gpu0", .vm = "vm3"}, absl::Seconds(3)); }
  bool HasSamples() const { return absl::StrContains(export_.Metrics(), "sideband_device_reference_seconds_total{"); }
  bool Has(const std::string& line) const { return absl::StrContains(export_.Metrics(), "\n" + line + "\n"); }

  absl::Duration now_ = absl::Seconds(100);
  GuestExport export_{{.now = [this] { return now_; }}};
};

TEST_F(GuestExportTest, BeforeTheFirstRecordItIsDown) {
  EXPECT_EQ(export_.Metrics().find("record_age"), std::string::npos);
  EXPECT_TRUE(Has("sideband_export_up 0"));
  Open();
  EXPECT_FALSE(export_.IsUp());
  EXPECT_FALSE(HasSamples());
}

TEST_F(GuestExportTest, AStaleRecordVanishes) {
  Open();
  export_.Received(ASnapshot(), 0);
  now_ += absl::Seconds(3);
  EXPECT_TRUE(HasSamples());
  EXPECT_TRUE(Has("sideband_export_up 1"));
  EXPECT_TRUE(Has("sideband_export_record_age_seconds 3"));
  now_ += absl::Nanoseconds(1);
  EXPECT_FALSE(HasSamples());
  EXPECT_TRUE(Has("sideband_export_up 0"));
  export_.Received(ASnapshot(), 0);
  EXPECT_TRUE(HasSamples());
}

TEST_F(GuestExportTest, WithTheStreamTheSamplesEnd) {
  Open();
  export_.Received(ASnapshot(), 0);
  export_.Ended(/*is_rejection=*/false);
  EXPECT_FALSE(HasSamples());
  Open();
  EXPECT_FALSE(HasSamples()) << "the record is of the stream before";
  export_.Received(ASnapshot(), 0);
  EXPECT_TRUE(HasSamples());
}

TEST_F(GuestExportTest, CountsWhatHappened) {
  Open();
  export_.Received(ASnapshot(), 0);
  export_.Received(ASnapshot(), 7);
  export_.Ended(/*is_rejection=*/true);
  Open();
  export_.Ended(/*is_rejection=*/false);
  EXPECT_TRUE(Has("sideband_export_records_total 2"));
  EXPECT_TRUE(Has("sideband_export_gaps_total 7"));
  EXPECT_TRUE(Has("sideband_export_rejected_total 1"));
  EXPECT_TRUE(Has("sideband_export_streams_total 2"));
}

}  // namespace
}  // namespace sideband::client
