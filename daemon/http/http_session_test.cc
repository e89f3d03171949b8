// SPDX-License-Identifier: Apache-2.0
//
// Sessions over a socket pair. The test itself runs their handlers: what has been sent has been handled once Poll()
// returns. A timeout of zero is over before the next byte.
#include "daemon/http/http_session.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/base/clock.h"
#include "daemon/http/fake_http_client.h"
#include "daemon/http/http_exchange.h"
#include "daemon/identity/identity.h"

namespace sideband::daemon {
namespace {

namespace asio = boost::asio;
using Id = ConnectionTable::Id;
using Texts = std::vector<std::string>;

constexpr Id kId = 7;
constexpr uint32_t kUser = 1000;

class FakeOwner final : public HttpSessionOwner {
 public:
  void OnSpeaks(Id id) override { Note(id, "speaks"); }
  void OnHandshakeFailed(Id id) override { Note(id, "handshake failed"); }
  bool MayStay(Id id, const ConnectionTable::Holder& shown) override {
    Note(id, "shown");
    holder = shown;
    return may_stay;
  }
  bool MayStayAs(Id id, const ConnectionTable::Holder&) override {
    Note(id, "recounted");
    return may_stay;
  }
  void SetBusy(Id id, bool busy) override { Note(id, busy ? "busy" : "idle"); }
  void SetArriving(Id id) override { Note(id, "arriving"); }
  void OnBreach(Id id, const char* reason) override { Note(id, reason); }
  void OnEnd(Id id) override { Note(id, "end"); }

  // The reports since the last call.
  Texts Take() { return std::exchange(told_, {}); }

  bool may_stay = true;
  ConnectionTable::Holder holder;

 private:
  void Note(Id id, const char* what) {
    EXPECT_EQ(id, kId);
    told_.push_back(what);
  }

  Texts told_;
};

class HttpSessionTest : public testing::Test {
 protected:
  ~HttpSessionTest() override {
    if (peer_ >= 0) close(peer_);
    if (const auto session = session_.lock()) session->Abort();
    Poll();
  }

  void Open() {
    std::array<int, 2> ends{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    peer_ = ends[0];
    using Local = asio::local::stream_protocol;
    const auto session = MakeLocalSession(kId, Local::socket(asio::make_strand(io_), Local(), ends[1]), kUser,
                                          {.options = options_, .handler = handler_, .owner = owner_, .tls = nullptr});
    session->Run();
    session_ = session;
    Poll();
  }
  // Runs all handlers that are ready.
  void Poll() {
    io_.restart();
    while (io_.poll() > 0) {
    }
  }
  // Runs until the session has ended; false where it goes on.
  bool EndsInTime() {
    io_.restart();
    for (int i = 0; i < 6000 && !session_.expired(); ++i) io_.run_one_for(std::chrono::milliseconds(10));
    return session_.expired();
  }

  void Send(const std::string& bytes) {
    ASSERT_EQ(send(peer_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    Poll();
  }
  // Reads until the session has nothing more to write.
  std::string Receive() {
    std::string received;
    std::array<char, 65536> buffer{};
    for (ssize_t size = 0; (size = recv(peer_, buffer.data(), buffer.size(), 0)) > 0; Poll()) {
      received.append(buffer.data(), static_cast<size_t>(size));
    }
    return received;
  }
  // Whether the session has closed, and sent nothing that was not received.
  bool IsClosed() const {
    char byte = 0;
    return recv(peer_, &byte, 1, MSG_PEEK) == 0;
  }
  // Opens a session, and returns its whole answer to the bytes.
  std::string AnswerTo(const std::string& bytes) {
    if (peer_ >= 0) close(peer_);
    Poll();
    Open();
    Send(bytes);
    return Receive();
  }
  static int StatusOf(const std::string& answer) {
    return answer.size() < 12 ? 0 : std::atoi(answer.substr(9, 3).c_str());
  }

  HttpServer::Options options_;
  FakeOwner owner_;
  std::vector<HttpRequest> requests_;
  Body body_ = Body::Of("good\n");
  const HttpHandler handler_ = [this](const HttpRequest& request) -> HttpResponse {
    requests_.push_back(request);
    return {.body = body_};
  };
  asio::io_context io_;
  std::weak_ptr<HttpSession> session_;
  int peer_ = -1;
};

TEST_F(HttpSessionTest, TheKernelHasIdentifiedALocalPeer) {
  Open();
  EXPECT_EQ(owner_.Take(), Texts({"shown"}));
  EXPECT_EQ(owner_.holder, (ConnectionTable::Holder{.name = LocalIdentity(kUser)}));
  Send(kGetRoot);
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(requests_[0].credentials.local_operator, kUser);
  EXPECT_TRUE(requests_[0].credentials.certificate.uris.empty());
}

TEST_F(HttpSessionTest, WhoMayNotStayIsClosedUnheard) {
  owner_.may_stay = false;
  Open();
  EXPECT_TRUE(IsClosed());
  EXPECT_EQ(owner_.Take(), Texts({"shown", "end"}));
  EXPECT_TRUE(requests_.empty());
}

TEST_F(HttpSessionTest, PiecesOfARequestAreOneRequest) {
  const std::string request = kGetRoot;
  const std::string whole = AnswerTo(request);
  EXPECT_EQ(StatusOf(whole), 200);
  for (size_t split = 1; split < request.size(); ++split) {
    EXPECT_EQ(AnswerTo(request.substr(0, split)), "") << split;
    Send(request.substr(split));
    EXPECT_EQ(Receive(), whole) << split;
  }
  EXPECT_EQ(requests_.size(), request.size());
}

TEST_F(HttpSessionTest, SingleBytesAreOneRequest) {
  Open();
  owner_.Take();
  for (const char byte : std::string(kGetRoot)) {
    EXPECT_TRUE(requests_.empty());
    Send(std::string(1, byte));
  }
  EXPECT_EQ(StatusOf(Receive()), 200);
  EXPECT_EQ(requests_.size(), 1u);
  EXPECT_EQ(owner_.Take(), Texts({"arriving", "busy", "idle"})) << "each once, not per byte";
}

TEST_F(HttpSessionTest, AConnectionIsBusyOnlyWhileItAnswers) {
  Open();
  owner_.Take();
  Send(kGetRoot);
  EXPECT_EQ(owner_.Take(), Texts({"busy", "idle"})) << "the request came at once";
  Send(kGetRoot);
  EXPECT_EQ(owner_.Take(), Texts({"busy", "idle"}));
  Send(std::string(kGetRoot) + "GET");
  EXPECT_EQ(owner_.Take(), Texts({"busy", "idle", "arriving"}));
}

TEST_F(HttpSessionTest, PipelinedRequestsAreAnsweredInTurn) {
  const std::string one = AnswerTo(kGetRoot);
  EXPECT_EQ(AnswerTo(std::string(kGetRoot) + kGetRoot + kGetRoot), one + one + one);
  EXPECT_FALSE(IsClosed());
}

TEST_F(HttpSessionTest, AConnectionIsKeptAsTheRequestSays) {
  struct Row {
    const char* request;
    bool is_kept;
  };
  for (const Row& row : std::vector<Row>{
           {kGetRoot, true},                                                       // the default of 1.1
           {"GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n", true},  //
           {"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", false},      //
           {"GET / HTTP/1.0\r\n\r\n", false},                                      // the default of 1.0
           {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true},             //
           {"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", true},                           // no body, but its length
           {"nonsense\r\n\r\n", false},                                            // no request
       }) {
    EXPECT_NE(AnswerTo(row.request), "") << row.request;
    EXPECT_EQ(IsClosed(), !row.is_kept) << row.request;
    EXPECT_EQ(session_.expired(), !row.is_kept) << row.request;
  }
}

TEST_F(HttpSessionTest, NothingIsAnsweredAfterTheLastAnswer) {
  const std::string last = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(AnswerTo(last + kGetRoot), AnswerTo(last));
  EXPECT_EQ(requests_.size(), 2u);
}

TEST_F(HttpSessionTest, AHeaderHasItsBound) {
  const std::string start = "GET / HTTP/1.1\r\nHost: x\r\nX: ";
  const std::string filler(kHttpHeaderBytesMax - start.size() - 4, 'x');
  EXPECT_EQ(StatusOf(AnswerTo(start + filler + "\r\n\r\n")), 200);
  EXPECT_FALSE(IsClosed());
  EXPECT_EQ(StatusOf(AnswerTo(start + filler + "x\r\n\r\n")), 431);
  EXPECT_TRUE(IsClosed());
  // Not waiting for an end that may never come.
  EXPECT_EQ(StatusOf(AnswerTo(start + filler + "xxxxx")), 431);
  EXPECT_TRUE(IsClosed());
  EXPECT_EQ(requests_.size(), 1u);
}

// The bound is of one request, not of all that the connection has had.
TEST_F(HttpSessionTest, TheBoundOfAHeaderIsOfEachRequest) {
  const std::string request = absl::StrCat("GET / HTTP/1.1\r\nHost: x\r\nX: ", std::string(5000, 'x'), "\r\n\r\n");
  const std::string answers = AnswerTo(request + request + request);
  EXPECT_EQ(requests_.size(), 3u);
  EXPECT_FALSE(absl::StrContains(answers, "431"));
}

TEST_F(HttpSessionTest, FieldsHaveTheirBound) {
  const auto with = [](size_t fields) {
    std::string request = "GET / HTTP/1.1\r\nHost: x\r\n";
    for (size_t i = 1; i < fields; ++i) request += "X: y\r\n";
    return request + "\r\n";
  };
  EXPECT_EQ(StatusOf(AnswerTo(with(kHttpHeaderFieldsMax))), 200);
  EXPECT_FALSE(IsClosed());
  EXPECT_EQ(StatusOf(AnswerTo(with(kHttpHeaderFieldsMax + 1))), 431);
  EXPECT_TRUE(IsClosed());
}

// A body that is not read would be parsed as the next request.
TEST_F(HttpSessionTest, ABodyIsNeverTheNextRequest) {
  struct Row {
    const char* start;
    const char* length;
    int status;
    bool is_kept;
  };
  for (const Row& row : std::vector<Row>{
           {"GET", "Content-Length: 0", 200, true},                        // no body
           {"GET", "Content-Length: 1", 413, false},                       //
           {"GET", "Content-Length: 28", 413, false},                      // as long as what follows
           {"GET", "Content-Length: 99999999999999999999", 400, false},    // beyond 64 bits
           {"GET", "Content-Length: -1", 400, false},                      //
           {"GET", "Content-Length: 0\r\nContent-Length: 1", 400, false},  // ambiguous
           {"HEAD", "Content-Length: 1", 413, false},                      //
           {"POST", "Content-Length: 0", 200, true},                       // the handler refuses methods
           {"POST", "Content-Length: 28", 200, false},                     //
       }) {
    requests_.clear();
    const std::string header = absl::StrCat(row.start, " / HTTP/1.1\r\nHost: x\r\n", row.length, "\r\n\r\n");
    EXPECT_EQ(StatusOf(AnswerTo(header + kGetRoot)), row.status) << header;
    EXPECT_EQ(IsClosed(), !row.is_kept) << header;
    const size_t handled = (row.status == 200 ? 1 : 0) + (row.is_kept ? 1 : 0);
    EXPECT_EQ(requests_.size(), handled) << header;
  }
}

TEST_F(HttpSessionTest, ATransferEncodingIsNeverIgnored) {
  struct Row {
    const char* fields;
    int status;
  };
  for (const Row& row : std::vector<Row>{
           {"Transfer-Encoding: chunked", 413},                                  // a body, which is not accepted
           {"transfer-encoding: CHUNKED", 413},                                  //
           {"Transfer-Encoding: gzip", 501},                                     // Beast would ignore it
           {"Transfer-Encoding: identity", 501},                                 // obsolete
           {"Transfer-Encoding: chunked, gzip", 501},                            //
           {"Transfer-Encoding: gzip, chunked", 501},                            //
           {"Transfer-Encoding: xchunked", 501},                                 //
           {"Transfer-Encoding:", 501},                                          // empty
           {"Transfer-Encoding: identity\r\nTransfer-Encoding: identity", 501},  // two
           {"Content-Length: 3\r\nTransfer-Encoding: chunked", 400},             // ambiguous
       }) {
    const std::string header = absl::StrCat("GET / HTTP/1.1\r\nHost: x\r\n", row.fields, "\r\n\r\n");
    EXPECT_EQ(StatusOf(AnswerTo(header + kGetRoot)), row.status) << row.fields;
    EXPECT_TRUE(IsClosed()) << row.fields;
  }
  EXPECT_TRUE(requests_.empty()) << "what follows was not taken for a request";
}

TEST_F(HttpSessionTest, AFoldedFieldIsRejectedHoweverItArrives) {
  for (const char* white : {" ", "\t"}) {
    const std::string first = "GET / HTTP/1.1\r\nHost: x\r\nX: a\r\n", second = absl::StrCat(white, "b\r\n\r\n");
    EXPECT_EQ(StatusOf(AnswerTo(first + second)), 400);
    EXPECT_TRUE(IsClosed());
    EXPECT_EQ(AnswerTo(first), "");
    Send(second);
    EXPECT_EQ(StatusOf(Receive()), 400) << "in two pieces";
    EXPECT_TRUE(IsClosed());
  }
  EXPECT_TRUE(requests_.empty());
  EXPECT_EQ(StatusOf(AnswerTo("GET / HTTP/1.1\r\nHost: x\r\nX:  a b\r\n\r\n")), 200) << "white space within a line";
}

// A body's parts are written one after the other, and `shared` is released before the connection is idle.
TEST_F(HttpSessionTest, ABodyArrivesWhole) {
  auto text = std::make_shared<const std::string>(1 << 20, 's');
  body_ = {.head = "head", .shared = *text, .owner = text, .tail = "tail"};
  const std::weak_ptr<const std::string> held = std::exchange(text, nullptr);
  const std::string answer = AnswerTo(kGetRoot);
  EXPECT_TRUE(absl::EndsWith(answer, "\r\n\r\nhead" + std::string(1 << 20, 's') + "tail"));
  body_ = {};
  EXPECT_TRUE(held.expired());
  EXPECT_FALSE(session_.expired());
}

TEST_F(HttpSessionTest, AnIdlePeerIsClosedAfterTheIdleTimeout) {
  options_.idle_timeout = absl::ZeroDuration();
  Open();
  EXPECT_TRUE(EndsInTime());
  EXPECT_TRUE(IsClosed());
  EXPECT_EQ(owner_.Take().back(), "end");
}

TEST_F(HttpSessionTest, AHeaderThatBeganHasTheHeaderTimeout) {
  options_.header_timeout = absl::ZeroDuration();
  Open();
  Poll();
  EXPECT_FALSE(session_.expired()) << "nothing has begun";
  Send(kGetRoot);
  EXPECT_EQ(StatusOf(Receive()), 200) << "whole at once";
  EXPECT_FALSE(session_.expired());
  Send("GET");
  EXPECT_TRUE(EndsInTime());
  EXPECT_EQ(Receive(), "") << "without an answer";
  EXPECT_TRUE(IsClosed());
}

// The rest of a second request, in the piece that completes the first, is a header that began.
TEST_F(HttpSessionTest, AHeaderThatBeganBehindAnotherHasTheHeaderTimeout) {
  options_.header_timeout = absl::ZeroDuration();
  Open();
  Send(std::string(kGetRoot) + "GET");
  EXPECT_EQ(StatusOf(Receive()), 200);
  EXPECT_TRUE(EndsInTime());
}

TEST_F(HttpSessionTest, APeerThatDoesNotReadHasTheWriteTimeout) {
  options_.write_timeout = absl::ZeroDuration();
  body_ = Body::Of(std::string(8 << 20, 'x'));
  Open();
  Send(kGetRoot);
  EXPECT_TRUE(EndsInTime());
  EXPECT_LT(Receive().size(), size_t{8} << 20);
  EXPECT_EQ(owner_.Take(), Texts({"shown", "busy", "end"}));
}

TEST_F(HttpSessionTest, StopClosesAnIdleSessionAtOnce) {
  Open();
  session_.lock()->Stop();
  Poll();
  EXPECT_TRUE(IsClosed());
  EXPECT_TRUE(session_.expired());
}

TEST_F(HttpSessionTest, StopDropsARequestThatHasNotArrivedWhole) {
  Open();
  Send("GET / HT");
  session_.lock()->Stop();
  Poll();
  EXPECT_TRUE(IsClosed());
}

TEST_F(HttpSessionTest, StopLetsAnAnswerFinish) {
  body_ = Body::Of(std::string(8 << 20, 'x'));
  Open();
  Send(std::string(kGetRoot) + kGetRoot);
  session_.lock()->Stop();
  Poll();
  EXPECT_FALSE(session_.expired());
  EXPECT_TRUE(absl::EndsWith(Receive(), std::string(8 << 20, 'x')));
  EXPECT_TRUE(IsClosed());
  EXPECT_EQ(requests_.size(), 1u) << "the pipelined request is not answered";
}

TEST_F(HttpSessionTest, AbortCutsAnAnswerOff) {
  body_ = Body::Of(std::string(8 << 20, 'x'));
  Open();
  Send(kGetRoot);
  session_.lock()->Abort();
  Poll();
  EXPECT_TRUE(session_.expired());
  EXPECT_LT(Receive().size(), size_t{8} << 20);
  EXPECT_TRUE(IsClosed());
}

TEST_F(HttpSessionTest, APeerThatClosesEndsTheSession) {
  for (const char* sent : {"", "GET / HT", kGetRoot}) {
    Open();
    Send(sent);
    close(std::exchange(peer_, -1));
    Poll();
    EXPECT_TRUE(session_.expired()) << sent;
    const Texts told = owner_.Take();
    EXPECT_EQ(std::count(told.begin(), told.end(), "end"), 1) << sent;
  }
}

TEST_F(HttpSessionTest, APeerThatFinishedSendingIsAnswered) {
  Open();
  ASSERT_EQ(send(peer_, kGetRoot, sizeof(kGetRoot) - 1, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof(kGetRoot) - 1));
  shutdown(peer_, SHUT_WR);
  Poll();
  EXPECT_EQ(StatusOf(Receive()), 200);
  EXPECT_TRUE(IsClosed());
}

TEST_F(HttpSessionTest, AnOldConnectionEndsAfterItsNextAnswer) {
  FakeClock clock(absl::FromUnixSeconds(1'800'000'000));
  options_.limits = {.age_max = absl::Hours(1), .clock = &clock};
  Open();
  Send(kGetRoot);
  EXPECT_FALSE(absl::StrContains(Receive(), "Connection: close"));
  clock.Advance(absl::Hours(1) - absl::Nanoseconds(1));
  Send(kGetRoot);
  EXPECT_FALSE(absl::StrContains(Receive(), "Connection: close"));
  clock.Advance(absl::Nanoseconds(1));
  session_.lock()->CheckStanding();
  Poll();
  EXPECT_FALSE(IsClosed()) << "age alone does not end it";
  Send(kGetRoot);
  EXPECT_TRUE(absl::StrContains(Receive(), "Connection: close"));
  EXPECT_TRUE(IsClosed());
}

TEST_F(HttpSessionTest, BytesBeforeTheStartAreSeen) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
  peer_ = ends[0];
  using Local = asio::local::stream_protocol;
  const auto session = MakeLocalSession(kId, Local::socket(io_, Local(), ends[1]), kUser,
                                        {.options = options_, .handler = handler_, .owner = owner_, .tls = nullptr});
  EXPECT_FALSE(session->HasBytes());
  ASSERT_EQ(send(peer_, "G", 1, MSG_NOSIGNAL), 1);
  EXPECT_TRUE(session->HasBytes());
}

// A TLS session whose handshake does not complete; it needs a context and no certificate.
class TlsHandshakeTest : public HttpSessionTest {
 protected:
  void OpenTls() {
    using asio::ip::tcp;
    tcp::acceptor acceptor(io_, {asio::ip::address_v4::loopback(), 0});
    client_.connect(acceptor.local_endpoint());
    client_.non_blocking(true);
    const auto tls = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
    const auto session = MakeTlsSession(kId, acceptor.accept(asio::make_strand(io_)), tls,
                                        {.options = options_, .handler = handler_, .owner = owner_, .tls = nullptr});
    session->Run();
    session_ = session;
  }

  asio::ip::tcp::socket client_{io_};
};

TEST_F(TlsHandshakeTest, ASilentPeerHasTheHandshakeTimeout) {
  options_.handshake_timeout = absl::ZeroDuration();
  OpenTls();
  EXPECT_TRUE(EndsInTime());
  EXPECT_EQ(owner_.Take(), Texts({"handshake failed", "end"}));
}

TEST_F(TlsHandshakeTest, FirstBytesAreToldBeforeTheHandshakeFails) {
  OpenTls();
  asio::write(client_, asio::buffer(std::string(kGetRoot)));
  EXPECT_TRUE(EndsInTime());
  EXPECT_EQ(owner_.Take(), Texts({"speaks", "handshake failed", "end"}));
  EXPECT_TRUE(requests_.empty()) << "plain HTTP";
}

TEST_F(TlsHandshakeTest, AStopDuringTheHandshakeIsNoFailure) {
  OpenTls();
  session_.lock()->Stop();
  EXPECT_TRUE(EndsInTime());
  EXPECT_EQ(owner_.Take(), Texts({"end"}));
}

}  // namespace
}  // namespace sideband::daemon
