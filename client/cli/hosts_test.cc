// SPDX-License-Identifier: Apache-2.0
#include "client/cli/hosts.h"

#include <grpcpp/channel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "client/cli/console.h"
#include "client/lib/fake_daemon.h"
#include "proto/base/wait_until.h"

namespace sideband::client {
namespace {

class HostsTest : public testing::Test {
 protected:
  std::vector<Host> Hosts(const std::string& addresses) {
    return *HostsOf(CommandContext(environment_, "", {.address = addresses}));
  }

  FakeDaemon daemon_{FakeDaemon::Script{}};
  StringOutput out_, err_;
  Cancellation cancellation_;
  absl::Status connected_;
  Environment environment_{.out = out_,
                           .err = err_,
                           .cancellation = cancellation_,
                           .get_env = [](const std::string&) { return std::nullopt; },
                           .connect = [this](const ClientConfig&) -> absl::StatusOr<std::shared_ptr<grpc::Channel>> {
                             if (!connected_.ok()) return connected_;
                             return daemon_.Channel();
                           }};
};

TEST_F(HostsTest, NoneWaitsForAnother) {
  std::vector<Host> hosts = Hosts("a:1,b:1,c:1");
  ASSERT_EQ(hosts.size(), 3u);
  std::atomic<size_t> asked = 0;
  std::vector<absl::Status> ended(hosts.size(), absl::UnknownError(""));
  EXPECT_EQ(AskEach(hosts,
                    [&](size_t i, const auto& client) {
                      ++asked;
                      WaitUntil([&] { return asked == hosts.size(); }, "the other hosts");
                      ended[i] = client->ListDevices({}).status();
                    }),
            absl::OkStatus());
  EXPECT_EQ(ended, std::vector<absl::Status>(3));
}

TEST_F(HostsTest, TheOnlyOneHasNoName) {
  std::vector<Host> hosts = Hosts("a:1");
  ASSERT_EQ(hosts.size(), 1u);
  EXPECT_EQ(hosts[0].name, "");
  int asked = 0;
  EXPECT_EQ(AskEach(hosts, [&](size_t, const auto&) { ++asked; }), absl::OkStatus());
  EXPECT_EQ(asked, 1);
}

TEST_F(HostsTest, TheirNumberHasABound) {
  const auto hosts = [this](int number) {
    std::string addresses;
    for (int i = 1; i <= number; ++i) absl::StrAppend(&addresses, "h:", i, ",");
    return HostsOf(CommandContext(environment_, "", {.address = addresses}));
  };
  EXPECT_EQ(hosts(256)->size(), 256u);
  EXPECT_EQ(hosts(257).status(),
            absl::InvalidArgumentError("address: 257 daemons are given; at most 256 can be asked at once"));
}

TEST_F(HostsTest, NoneIsAskedIfAFileIsMissing) {
  std::vector<Host> hosts = Hosts("a:1,b:1");
  connected_ = absl::NotFoundError("ca.pem: no such file");
  EXPECT_EQ(AskEach(hosts, [](size_t, const auto&) { ADD_FAILURE(); }), connected_);
}

TEST_F(HostsTest, AnObjectHasTheNameFirst) {
  EXPECT_EQ(WithHostMember("{\"a\": 1}\n", ""), "{\"a\": 1}\n");
  EXPECT_EQ(WithHostMember("{\"a\": 1}\n", "a:1"), "{\"host\": \"a:1\",\"a\": 1}\n");
  EXPECT_EQ(nlohmann::json::parse(WithHostMember("{\"a\": 1}", "unix:/\xff\""))["host"], "unix:/\xef\xbf\xbd\"")
      << "not UTF-8";
  EXPECT_EQ(WithHostMember("", "a:1"), "{\"host\": \"a:1\",") << "what cannot be converted has no object";
}

TEST_F(HostsTest, LinesHaveTheNameFirst) {
  EXPECT_EQ(WithHostColumn("device,x\r\n", ""), "device,x\r\n");
  EXPECT_EQ(WithHostColumn("gpu0,\"a,b\"\r\ngpu1,c\r\n", "unix:/a,b"),
            "\"unix:/a,b\",gpu0,\"a,b\"\r\n\"unix:/a,b\",gpu1,c\r\n");
  EXPECT_EQ(WithHostColumn("", "a:1"), "");
}

}  // namespace
}  // namespace sideband::client
