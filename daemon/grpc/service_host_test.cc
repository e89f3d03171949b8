// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/service_host.h"

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/grpc/grpc_server_fixture.h"

namespace sideband::daemon {
namespace {

using Method = RawService::Method;
using Texts = std::vector<std::string>;

// Answers with its own name and the request.
Method Echo(const std::string& name) {
  return {name, [name](grpc::CallbackServerContext* call, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
            *response = BytesOf(name + ":" + TextOf(*request));
            grpc::ServerUnaryReactor* const reactor = call->DefaultReactor();
            reactor->Finish(grpc::Status::OK);
            return reactor;
          }};
}

Method Fail(const std::string& name, const grpc::Status& status) {
  return {name, [status](grpc::CallbackServerContext* call, const grpc::ByteBuffer*, grpc::ByteBuffer*) {
            grpc::ServerUnaryReactor* const reactor = call->DefaultReactor();
            reactor->Finish(status);
            return reactor;
          }};
}

// Sends these messages in turn.
class Counting final : public WriteReactor {
 public:
  explicit Counting(Texts messages) : messages_(std::move(messages)) { OnWriteDone(true); }
  void OnWriteDone(bool good) override {
    if (!good || next_ == messages_.size()) return Finish(grpc::Status(grpc::DATA_LOSS, "all was sent"));
    bytes_ = BytesOf(messages_[next_++]);
    StartWrite(&bytes_);
  }
  void OnDone() override { delete this; }

 private:
  const Texts messages_;
  size_t next_ = 0;
  grpc::ByteBuffer bytes_;
};

// Sends its own name and the request `times` times each.
Method Repeat(const std::string& name, int times) {
  return {name, [name, times](grpc::CallbackServerContext*, const grpc::ByteBuffer* request) -> WriteReactor* {
            return new Counting(Texts(times, name + ":" + TextOf(*request)));
          }};
}

class RawServiceTest : public testing::Test {
 protected:
  ~RawServiceTest() override {
    for (const auto& server : servers_) server->Shutdown();
  }

  void Serve(const std::string& name, std::vector<Method> methods) {
    services_.push_back(std::make_unique<RawService>(name, std::move(methods)));
    grpc::ServerBuilder builder;
    for (const auto& service : services_) builder.RegisterService(service.get());
    servers_.push_back(builder.BuildAndStart());
  }
  // Calls the last server, which has all services so far.
  RawAnswer Call(const std::string& path, const std::string& request = "") {
    return RawCall(servers_.back()->InProcessChannel({}), path, BytesOf(request));
  }

  std::vector<std::unique_ptr<RawService>> services_;
  std::vector<std::unique_ptr<grpc::Server>> servers_;
};

TEST_F(RawServiceTest, EachMethodOfTheTableAnswersUnderItsName) {
  Serve("test.A", {Echo("First"), Repeat("Second", 1), Echo("Third"), Repeat("Fourth", 3)});
  struct Row {
    const char* path;
    Texts responses;
    grpc::StatusCode code;
  };
  for (const Row& row : std::vector<Row>{
           {"/test.A/First", {"First:x"}, grpc::OK},
           {"/test.A/Second", {"Second:x"}, grpc::DATA_LOSS},
           {"/test.A/Third", {"Third:x"}, grpc::OK},
           {"/test.A/Fourth", {"Fourth:x", "Fourth:x", "Fourth:x"}, grpc::DATA_LOSS},
       }) {
    const RawAnswer answer = Call(row.path, "x");
    EXPECT_EQ(answer.responses, row.responses) << row.path;
    EXPECT_EQ(answer.status.error_code(), row.code) << row.path;
  }
}

TEST_F(RawServiceTest, WhatIsNotInTheTableIsUnimplemented) {
  Serve("test.A", {Echo("First"), Repeat("Second", 1)});
  for (const char* path : {
           "/test.A/Third",    // no such method
           "/test.A/first",    // names are case-sensitive
           "/test.A/FirstX",   // longer
           "/test.A/Firs",     // shorter
           "/test.A/",         // no name
           "/test.A",          // no method at all
           "/test.B/First",    // another service
           "/A/First",         // without its package
           "/test.A/First/x",  // below a method
       }) {
    const RawAnswer answer = Call(path);
    EXPECT_EQ(answer.status.error_code(), grpc::UNIMPLEMENTED) << path;
    EXPECT_EQ(answer.responses, Texts()) << path;
  }
}

TEST_F(RawServiceTest, ServicesOfOneServerMayHaveMethodsOfOneName) {
  Serve("test.A", {Echo("First")});
  Serve("test.B", {Repeat("First", 2)});
  EXPECT_EQ(Call("/test.A/First", "a").responses, Texts({"First:a"}));
  EXPECT_EQ(Call("/test.B/First", "b").responses, Texts({"First:b", "First:b"}));
}

TEST_F(RawServiceTest, AStreamMayEndWithoutAMessage) {
  Serve("test.A", {Repeat("First", 0)});
  const RawAnswer answer = Call("/test.A/First");
  EXPECT_EQ(answer.responses, Texts());
  EXPECT_EQ(answer.status.error_message(), "all was sent");
}

TEST_F(RawServiceTest, TheHandlersStatusIsTheCalls) {
  Serve("test.A", {Fail("First", {grpc::FAILED_PRECONDITION, "not now"})});
  const RawAnswer answer = Call("/test.A/First");
  EXPECT_EQ(answer.status.error_code(), grpc::FAILED_PRECONDITION);
  EXPECT_EQ(answer.status.error_message(), "not now");
  EXPECT_EQ(answer.responses, Texts());
}

// Also those that no protocol buffer has, and of more than one slice.
TEST_F(RawServiceTest, BytesArriveAsTheyWereSent) {
  Serve("test.A", {Echo("First")});
  for (const std::string& bytes :
       {std::string(), std::string(1, '\0'), std::string("\xff\xff\xff"), std::string(1 << 20, 'x')}) {
    EXPECT_EQ(Call("/test.A/First", bytes).responses, Texts({"First:" + bytes})) << bytes.size();
  }
  const grpc::Slice slices[] = {grpc::Slice("ab"), grpc::Slice("cd")};
  const auto channel = servers_.back()->InProcessChannel({});
  EXPECT_EQ(RawCall(channel, "/test.A/First", grpc::ByteBuffer(slices, 2)).responses, Texts({"First:abcd"}));
}

// gRPC keeps pointers to the paths: many names, of which each would move the others in a vector.
TEST_F(RawServiceTest, ALongTableKeepsItsNames) {
  std::vector<Method> methods;
  for (int i = 0; i < 100; ++i) methods.push_back(Echo("AMethodWithALongName" + std::to_string(i)));
  Serve("test.A", std::move(methods));
  for (const int i : {0, 1, 50, 99}) {
    const std::string name = "AMethodWithALongName" + std::to_string(i);
    EXPECT_EQ(Call("/test.A/" + name).responses, Texts({name + ":"}));
  }
}

}  // namespace

}  // namespace sideband::daemon
