// SPDX-License-Identifier: Apache-2.0
#include "client/cli/loopback_server.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/wait_until.h"

namespace sideband::client {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

HttpReply Echo(absl::string_view path) {
  if (path == "/missing") return {.status = 404, .body = "no\n"};
  return {.body = absl::StrCat("path ", path, "\n")};
}

class LoopbackServerTest : public testing::Test {
 protected:
  tcp::socket Connect() {
    const std::string address = server_->address();
    uint32_t port = 0;
    EXPECT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port)) << address;
    tcp::socket socket(context_);
    socket.connect({asio::ip::make_address("127.0.0.1"), static_cast<uint16_t>(port)});
    return socket;
  }
  // All that the server sends until it closes.
  static std::string Rest(tcp::socket& socket) {
    std::string answer;
    boost::system::error_code error;
    asio::read(socket, asio::dynamic_buffer(answer), error);
    return answer;
  }
  std::string Ask(const std::string& request) {
    tcp::socket socket = Connect();
    boost::system::error_code error;
    asio::write(socket, asio::buffer(request), error);
    return Rest(socket);
  }

  const TimeLimit limit_{"an answer of the server"};
  asio::io_context context_;
  std::unique_ptr<LoopbackServer> server_ = *LoopbackServer::Listen("127.0.0.1:0", Echo);
};

TEST_F(LoopbackServerTest, AnswersOneRequestOfAConnection) {
  const std::string answer = Ask("GET /a?b=c HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(absl::StartsWith(answer, "HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_TRUE(absl::StrContains(answer, "\r\nConnection: close\r\n")) << answer;
  EXPECT_TRUE(absl::EndsWith(answer, "\r\n\r\npath /a\n")) << answer;
}

TEST_F(LoopbackServerTest, StatusesOfOtherRequests) {
  EXPECT_TRUE(absl::StartsWith(Ask("GET /missing HTTP/1.1\r\nHost: localhost\r\n\r\n"), "HTTP/1.1 404 "));
  EXPECT_TRUE(absl::StartsWith(Ask("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "HTTP/1.1 405 "));
  const std::string head = Ask("HEAD /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(absl::StrContains(head, "\r\nContent-Length: 8\r\n")) << head;
  EXPECT_TRUE(absl::EndsWith(head, "\r\n\r\n")) << head;
}

TEST_F(LoopbackServerTest, NoAnswerToWhatIsNoRequest) {
  EXPECT_EQ(Ask("\r\nnonsense\r\n\r\n"), "");
  EXPECT_EQ(Ask("GET / HTTP/1.1\r\nX: " + std::string(10'000, 'x') + "\r\n\r\n"), "") << "more than 8 KiB";
  EXPECT_NE(Ask("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "") << "and the next one is answered";
}

TEST_F(LoopbackServerTest, HalfRequestsShutNobodyOut) {
  std::vector<tcp::socket> half;
  for (int i = 0; i < 400; ++i) {
    half.push_back(Connect());
    boost::system::error_code error;
    asio::write(half.back(), asio::buffer(std::string("GET /a HTTP/1.1\r\nHost:")), error);
  }
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(absl::EndsWith(Ask("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n"), "path /a\n"));
  EXPECT_EQ(Rest(half[0]), "") << "the oldest have made room";
  asio::write(half.back(), asio::buffer(std::string(" localhost\r\n\r\n")));
  EXPECT_NE(Rest(half.back()), "") << "the newest are there";
}

TEST_F(LoopbackServerTest, ARequestIsForThisMachine) {
  const auto status = [&](const std::string& target, const std::string& fields, const char* version = "1.1") {
    return Ask(absl::StrCat("GET ", target, " HTTP/", version, "\r\n", fields, "\r\n")).substr(9, 3);
  };
  for (const char* host : {"localhost", "LocalHost:9879", "127.0.0.1", "127.9.9.9:1", "[::1]", "[::1]:9879"}) {
    EXPECT_EQ(status("/a", absl::StrCat("Host: ", host, "\r\n")), "200") << host;
  }
  for (const char* host : {"attacker.example", "attacker.example:9879", "localhost.attacker.example", "192.0.2.1",
                           "::1", "localhost@x", "127.0.0.1.nip.io", "[::1].x", "0.0.0.0", "2130706433", ""}) {
    EXPECT_EQ(status("/a", absl::StrCat("Host: ", host, "\r\n")), "421") << host;
  }
  EXPECT_EQ(status("/a", ""), "400");
  EXPECT_EQ(status("/a", "", "1.0"), "200");
  EXPECT_EQ(status("/a", "Host: localhost\r\nHost: localhost\r\n"), "400");
  EXPECT_EQ(status("http://attacker.example/a", "Host: localhost\r\n"), "421");
  const std::string answer = Ask("GET http://127.0.0.1:9/b?c HTTP/1.1\r\nHost: attacker.example\r\n\r\n");
  EXPECT_TRUE(absl::EndsWith(answer, "path /b\n")) << answer;
}

TEST_F(LoopbackServerTest, OnlyTheLoopback) {
  for (const std::string address : {"0.0.0.0:0", "[::]:0", "192.0.2.1:80"}) {
    const absl::Status status = LoopbackServer::Listen(address, Echo).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << address;
    EXPECT_TRUE(absl::StrContains(status.message(), "is not a loopback address")) << status;
  }
  for (const std::string address : {"", "x", ":1", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:65536", "localhost:1"}) {
    const absl::Status status = LoopbackServer::Listen(address, Echo).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << address;
    EXPECT_TRUE(absl::StrContains(status.message(), "is not IP:PORT")) << status;
  }
  EXPECT_EQ(LoopbackServer::Listen(server_->address(), Echo).status().code(), absl::StatusCode::kUnavailable)
      << "the port is in use";
}

}  // namespace
}  // namespace sideband::client
