// SPDX-License-Identifier: Apache-2.0
//
// `sideband unseal` and `export`: records, states, mistakes.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/cli_fixture.h"
#include "proto/envelope/keys.h"

namespace sideband::client {
namespace {

using nlohmann::json;

class UnsealTest : public CliTest {
 protected:
  UnsealTest() {
    key_file_ = testing::TempDir() + "/vm.key";
    std::ofstream(key_file_) << std::string(64, '4') << "\n";
    ::chmod(key_file_.c_str(), 0600);
  }

  // A record with the stream's nonce; without one, as in a file.
  static v1::SealedRecord Record(uint64_t sequence, bool with_nonce = false, uint64_t epoch = 3) {
    envelope::RecordHeader header{.device = *Uuid::Parse(kDeviceUuid),
                                  .boot_id = 1,
                                  .vm = *Uuid::Parse(kVmUuid),
                                  .generation = 2,
                                  .epoch = epoch,
                                  .sequence = sequence};
    if (with_nonce) header.guest_nonce = kNonce;
    v1::SealedContent content;
    *content.mutable_snapshot() = ASnapshot();
    const auto keys =
        envelope::SessionKeys::Derive(envelope::Secret::Take(Bytes(32, 0x44)), envelope::KeyScope::Of(header));
    const Bytes bytes = *envelope::SealRecord(*keys, header, AsBytes(content.SerializeAsString()));
    v1::SealedRecord record;
    record.set_record(std::string(bytes.begin(), bytes.end()));
    return record;
  }

  static std::string FileOf(const v1::SealedRecord& record) {
    const std::string path = testing::TempDir() + "/record.bin";
    std::ofstream(path, std::ios::binary) << record.record();
    return path;
  }

  std::string key_file_;
};

TEST_F(UnsealTest, OpensAStream) {
  Serve({.records = {Record(0, true), Record(3, true)}, .keeps_streams = true});
  const std::string heading =
      std::string("VM ") + kVmUuid + "  generation 2\n  device " + kDeviceUuid + "  epoch 3  record ";
  EXPECT_EQ(Printed({"unseal", "--vm", "vm0", "--device", "gpu0", "--key-file", key_file_, "--count", "2"}),
            heading + "0\n" + kSnapshotTable + "\n2 records are missing before this one\n" + heading + "3\n" +
                kSnapshotTable + "\n");
  EXPECT_EQ(daemon_->requests().subscribe_sealed,
            R"(device: "gpu0" vm: "vm0" nonce: "NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN")");
  EXPECT_EQ(config_.key_file, "") << "the VM's key is not that of TLS";
}

TEST_F(UnsealTest, SaysWhyThereIsNoRecord) {
  FakeDaemon::Script script{.status = grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "no key")};
  Serve(script);
  EXPECT_EQ(Run({"unseal", "--address", "h:1", "--vm", "vm0", "--key-file", key_file_}).message(), "h:1: no key");
  EXPECT_EQ(ReportCli(Run({"unseal", "--vm", "vm0", "--key-file", key_file_})), 1);
  script = {.keeps_streams = true};
  v1::Device& device = *script.devices.add_devices();
  device.set_name("gpu0");
  device.set_state(v1::Device::STATE_STALE);
  v1::Scope& scope = *script.scopes.add_scopes();
  scope.set_device("gpu0");
  scope.set_vm("vm0");
  scope.set_confidential(true);
  Serve(script);
  err_.on_write = [this] { cancellation_.Cancel(); };
  const std::string state = testing::TempDir() + "/silent.state";
  EXPECT_EQ(Run({"unseal", "--vm", "vm0", "--key-file", key_file_, "--state", state}), absl::OkStatus());
  EXPECT_EQ(err_.text(), "sideband: gpu0 is stale: it does not answer\n");
}

TEST_F(UnsealTest, OpensAFileAsJson) {
  const json line = json::parse(
      Printed({"unseal", "--vm", kVmUuid, "--key-file", key_file_, "--record", FileOf(Record(5)), "--format", "json"}));
  EXPECT_EQ(line["record"]["vm_uuid"], kVmUuid);
  EXPECT_EQ(line["record"]["sequence"], "5");
  EXPECT_EQ(line["gap"], "0");
  EXPECT_EQ(line["snapshot"]["scopes"][1]["counters"][0]["count"], "42");
}

TEST_F(UnsealTest, RejectionIsOneLineAndEndsWithOne) {
  v1::SealedRecord bad = Record(1);
  bad.mutable_record()->back() ^= 1;
  const std::string other = "00000000-0000-4000-8000-000000000000";
  for (const absl::Status& status :
       {Run({"unseal", "--key-file", key_file_, "--record", FileOf(bad)}),
        Run({"unseal", "--vm", other, "--key-file", key_file_, "--record", FileOf(Record(1))}),
        Run({"unseal", "--device-uuid", other, "--key-file", key_file_, "--record", FileOf(Record(1))})}) {
    EXPECT_EQ(status.message(), "record rejected");
    EXPECT_EQ(ReportCli(status), 1);
  }
  for (const auto& records : {std::vector{Record(1, true), Record(1, true)}, std::vector{Record(1)}}) {
    Serve({.records = records, .keeps_streams = true});
    EXPECT_EQ(Run({"unseal", "--vm", kVmUuid, "--key-file", key_file_}).message(), "record rejected")
        << "a replay, or a record without the stream's nonce";
  }
}

TEST_F(UnsealTest, StateTellsALaterRunWhatIsOld) {
  const std::string state = testing::TempDir() + "/unseal.state";
  ::unlink(state.c_str());
  const auto open = [&](const v1::SealedRecord& record) {
    return Run({"unseal", "--key-file", key_file_, "--record", FileOf(record), "--state", state});
  };
  EXPECT_EQ(open(Record(5)), absl::OkStatus());
  EXPECT_EQ(open(Record(5)).message(), "record rejected") << "the same once more";
  EXPECT_EQ(open(Record(9, false, 2)).message(), "record rejected") << "of an older run of the daemon";
  EXPECT_EQ(open(Record(6)), absl::OkStatus());
  Serve({.records = {Record(0, true, 8)}, .keeps_streams = true});
  Printed({"unseal", "--vm", kVmUuid, "--key-file", key_file_, "--count", "1", "--state", state});
  EXPECT_EQ(open(Record(7)).message(), "record rejected") << "older than what the stream has brought";
  std::ofstream(state) << "not a state";
  const absl::Status status = open(Record(0, false, 9));
  EXPECT_EQ(ReportCli(status), 2) << status;
  EXPECT_EQ(Run({"unseal", "--key-file", key_file_, "--record", FileOf(Record(5))}), absl::OkStatus())
      << "without a state a file may be opened again";
}

TEST_F(UnsealTest, AStreamHasAStateFileOfItsOwn) {
  environment_["XDG_STATE_HOME"] = testing::TempDir() + "/xdg";
  Serve({.records = {Record(4, true)}, .keeps_streams = true});
  Printed({"unseal", "--vm", "vm0", "--key-file", key_file_, "--count", "1"});
  const std::string state = testing::TempDir() + "/xdg/sideband/unseal-" + kVmUuid + "-" + kDeviceUuid + ".json";
  EXPECT_EQ(Run({"unseal", "--key-file", key_file_, "--record", FileOf(Record(3)), "--state", state}).message(),
            "record rejected");
  environment_["XDG_STATE_HOME"] = key_file_;
  EXPECT_FALSE(Run({"unseal", "--vm", "vm0", "--key-file", key_file_, "--count", "1"}).ok())
      << "nothing is shown that cannot be remembered";
  EXPECT_EQ(out_.text().find("VM "), std::string::npos);
}

TEST_F(UnsealTest, ExportServesOnlyTheLoopback) {
  EXPECT_EQ(Mistake({"export"}), "--vm is required");
  EXPECT_EQ(Mistake({"export", "--vm", "vm0"}), "--key-file or --exchange is required");
  EXPECT_EQ(Mistake({"export", "--vm", "vm0", "--key-file", key_file_, "--listen", "0.0.0.0:9879"}),
            "--listen: 0.0.0.0 is not a loopback address: others could read the counts, which are served in plaintext");
  EXPECT_NE(Mistake({"export", "--vm", "vm0", "--key-file", key_file_, "--listen", "9879"}).find("is not IP:PORT"),
            std::string::npos);
}

TEST_F(UnsealTest, MistakesAreNamed) {
  EXPECT_EQ(Mistake({"unseal", "--key-file", key_file_}), "--vm is required");
  EXPECT_NE(Mistake({"unseal", "--vm", "v", "--key-file", "/nonexistent.key"}).find("/nonexistent.key: "),
            std::string::npos);
  EXPECT_NE(Mistake({"unseal", "--key-file", key_file_, "--record", "/nonexistent.bin"}).find("/nonexistent.bin"),
            std::string::npos);
  EXPECT_NE(Mistake({"unseal", "--vm", "vm0", "--key-file", key_file_, "--record", "x"}).find("by UUID"),
            std::string::npos);
  EXPECT_EQ(Mistake({"unseal", "--vm", "v", "--view", "v.sbs"}),
            "--view requires --exchange (see sideband unseal --help)");
  EXPECT_EQ(Mistake({"export", "--vm", "v", "--view", "v.sbs"}),
            "--view requires --exchange (see sideband export --help)");
  EXPECT_EQ(Mistake({"unseal", "--vm", "v", "--exchange", "--view", "v.sbs", "--record", "r"}),
            "--view excludes --record (see sideband unseal --help)");
  ::chmod(key_file_.c_str(), 0644);
  EXPECT_NE(Mistake({"unseal", "--vm", "v", "--key-file", key_file_}).find("other users"), std::string::npos);
}

}  // namespace
}  // namespace sideband::client
