// SPDX-License-Identifier: Apache-2.0
//
// Connections to a BMC that answers by scripts, on a thread of its own. The test itself runs the connection's handlers.
#include "daemon/bmc/bmc_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/file.h"
#include "proto/base/openssl.h"
#include "proto/base/throwaway_ca.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using absl::StatusCode;
using Method = BmcRequest::Method;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Texts = std::vector<std::string>;

constexpr size_t kHeaderMax = 64 << 10;

struct Files {
  std::string certificate, key;
};

// The BMC's end of a connection.
class Peer {
 public:
  explicit Peer(SSL* ssl) : ssl_(ssl) {}

  // The next request; empty once the client has closed the connection.
  std::string Receive() {
    size_t end = 0;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
      if (!ReadMore()) return "";
    }
    size_t size = 0;
    const size_t at = received_.find("Content-Length: ");
    if (at < end) size = std::strtoul(received_.c_str() + at + 16, nullptr, 10);
    while (received_.size() < end + 4 + size && ReadMore()) {
    }
    std::string request = received_.substr(0, end + 4 + size);
    received_.erase(0, request.size());
    return request;
  }
  // Sends a record of TLS, or several of large texts. False once the client has closed the connection.
  bool Send(absl::string_view text) {
    return SSL_write(ssl_, text.data(), static_cast<int>(text.size())) == static_cast<int>(text.size());
  }
  void UpdateKeys() { SSL_key_update(ssl_, SSL_KEY_UPDATE_NOT_REQUESTED); }
  // Ends without TLS's farewell.
  void Cut() { is_cut_ = true; }
  bool is_cut() const { return is_cut_; }

 private:
  bool ReadMore() {
    char bytes[4096];
    const int size = SSL_read(ssl_, bytes, sizeof(bytes));
    if (size > 0) received_.append(bytes, static_cast<size_t>(size));
    return size > 0;
  }

  SSL* const ssl_;
  std::string received_;
  bool is_cut_ = false;
};

// Plays a script on each connection, and closes it at the script's end. Thread-safe.
class FakeBmc {
 public:
  using Script = std::function<void(FakeBmc&, Peer&)>;

  FakeBmc(const Files& files, std::vector<Script> scripts, int tls_version = 0)
      : context_(SSL_CTX_new(TLS_server_method())), scripts_(std::move(scripts)) {
    // Clients close connections while the BMC writes.
    std::signal(SIGPIPE, SIG_IGN);
    if (tls_version != 0) {
      SSL_CTX_set_cipher_list(context_.get(), "DEFAULT:@SECLEVEL=0");
      SSL_CTX_set_min_proto_version(context_.get(), tls_version);
      SSL_CTX_set_max_proto_version(context_.get(), tls_version);
    }
    EXPECT_EQ(SSL_CTX_use_certificate_file(context_.get(), files.certificate.c_str(), SSL_FILETYPE_PEM), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey_file(context_.get(), files.key.c_str(), SSL_FILETYPE_PEM), 1);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_.get(), 8), 0);
    EXPECT_EQ(getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  ~FakeBmc() {
    {
      absl::MutexLock lock(&mu_);
      is_stopping_ = true;
      shutdown(listener_.get(), SHUT_RDWR);
      if (socket_ >= 0) shutdown(socket_, SHUT_RDWR);
    }
    const TimeLimit limit("the BMC's thread to end");
    thread_.join();
  }

  uint16_t port() const { return port_; }
  Texts requests() const {
    absl::MutexLock lock(&mu_);
    return requests_;
  }
  std::string last_request() const {
    const Texts all = requests();
    return all.empty() ? "" : all.back();
  }
  // The server name (SNI) of each connection whose handshake has succeeded.
  Texts names() const {
    absl::MutexLock lock(&mu_);
    return names_;
  }
  size_t connections() const { return names().size(); }
  void WaitForEnds(size_t count) const {
    WaitUntil(
        [&] {
          absl::MutexLock lock(&mu_);
          return ends_ >= count;
        },
        "the BMC to close a connection");
  }
  // For scripts: receives a request, and notes it.
  std::string Receive(Peer& peer) {
    std::string request = peer.Receive();
    if (request.empty()) return request;
    absl::MutexLock lock(&mu_);
    requests_.push_back(request);
    return request;
  }

 private:
  void Run() {
    for (const Script& script : scripts_) {
      const Descriptor socket(accept(listener_.get(), nullptr, nullptr));
      {
        absl::MutexLock lock(&mu_);
        if (!socket.is_open() || is_stopping_) return;
        socket_ = socket.get();
      }
      Serve(script, socket.get());
      absl::MutexLock lock(&mu_);
      socket_ = -1;
    }
    // The listener stays open: a further connection would wait in vain.
  }

  void Serve(const Script& script, int socket) {
    {
      const SslPtr ssl(SSL_new(context_.get()));
      SSL_set_fd(ssl.get(), socket);
      if (SSL_accept(ssl.get()) != 1) return;
      const char* const name = SSL_get_servername(ssl.get(), TLSEXT_NAMETYPE_host_name);
      {
        absl::MutexLock lock(&mu_);
        names_.push_back(name == nullptr ? "" : name);
      }
      Peer peer(ssl.get());
      script(*this, peer);
      if (!peer.is_cut()) SSL_shutdown(ssl.get());
      shutdown(socket, SHUT_WR);
    }
    absl::MutexLock lock(&mu_);
    ++ends_;
  }

  const SslContextPtr context_;
  const std::vector<Script> scripts_;
  const Descriptor listener_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  uint16_t port_ = 0;
  mutable absl::Mutex mu_;
  Texts requests_ ABSL_GUARDED_BY(mu_);
  Texts names_ ABSL_GUARDED_BY(mu_);
  size_t ends_ ABSL_GUARDED_BY(mu_) = 0;
  int socket_ ABSL_GUARDED_BY(mu_) = -1;
  bool is_stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

using Script = FakeBmc::Script;

std::string Ok(absl::string_view body, absl::string_view fields = "") {
  return absl::StrCat("HTTP/1.1 200 OK\r\n", fields, "Content-Length: ", body.size(), "\r\n\r\n", body);
}

std::string Redirect(absl::string_view location, int code = 307) {
  return absl::StrCat("HTTP/1.1 ", code, " Moved\r\nContent-Length: 0\r\nLocation: ", location, "\r\n\r\n");
}

// Answers each request by the next text, and closes after the last.
Script Answers(Texts answers) {
  return [answers](FakeBmc& bmc, Peer& peer) {
    for (const std::string& answer : answers) {
      if (bmc.Receive(peer).empty() || !peer.Send(answer)) return;
    }
  };
}

// The same, and then keeps the connection, without an answer, until the client closes it.
Script AnswersAndStays(Texts answers) {
  return [answers](FakeBmc& bmc, Peer& peer) {
    Answers(answers)(bmc, peer);
    while (!bmc.Receive(peer).empty()) {
    }
  };
}

// Answers one request in pieces, each in a record of its own.
Script AnswersInPieces(Texts pieces) {
  return [pieces](FakeBmc& bmc, Peer& peer) {
    bmc.Receive(peer);
    for (const std::string& piece : pieces) {
      if (!peer.Send(piece)) return;
    }
  };
}

Texts BytesOf(const std::string& text) {
  Texts bytes;
  for (const char byte : text) bytes.emplace_back(1, byte);
  return bytes;
}

void Write(const std::string& path, absl::string_view text, fs::perms permissions = fs::perms::owner_read) {
  fs::remove(path);
  std::ofstream(path) << text;
  fs::permissions(path, permissions);
}

class BmcConnectionTest : public testing::Test {
 protected:
  BmcConnectionTest() {
    options_.host = "127.0.0.1";
    options_.ca_file = ca_->ca_file();
    options_.user = "side\"band";
    options_.password_file = folder_ + "/bmc.password";
    options_.timeout = absl::Minutes(1);
    Write(options_.password_file, "pass\\word \"7\"\x01\n");
  }
  ~BmcConnectionTest() override {
    connection_.reset();
    Poll();
  }

  Files Issue(const std::string& name, const std::string& names) {
    EXPECT_TRUE(ca_->Issue(name, names).ok());
    return {ca_->CertFile(name), ca_->KeyFile(name)};
  }
  // A certificate that signs itself, valid between these times from now.
  Files SelfSigned(const std::string& name, const char* names, long begins_s, long ends_s) {
    const KeyPtr key(EVP_EC_gen("P-256"));
    const CertificatePtr certificate(X509_new());
    X509_set_version(certificate.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), begins_s);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), ends_s);
    X509_set_pubkey(certificate.get(), key.get());
    const auto* const common = reinterpret_cast<const unsigned char*>("bmc");
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8, common, -1, -1, 0);
    X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get()));
    const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names));
    X509_add_ext(certificate.get(), extension.get(), -1);
    EXPECT_GT(X509_sign(certificate.get(), key.get(), EVP_sha256()), 0);
    const Files files = {folder_ + "/" + name + ".pem", folder_ + "/" + name + ".key"};
    const BioPtr certificate_file(BIO_new_file(files.certificate.c_str(), "w")),
        key_file(BIO_new_file(files.key.c_str(), "w"));
    PEM_write_bio_X509(certificate_file.get(), certificate.get());
    PEM_write_bio_PrivateKey(key_file.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return files;
  }
  static std::array<uint8_t, 32> PinOf(const Files& files) {
    const auto chain = LoadCertificates(files.certificate);
    unsigned char* der = nullptr;
    const int size = i2d_PUBKEY(X509_get0_pubkey(chain->front().get()), &der);
    std::array<uint8_t, 32> pin{};
    SHA256(der, static_cast<size_t>(size), pin.data());
    OPENSSL_free(der);
    return pin;
  }

  // Ends the connection and the BMC before, if there were any.
  void Serve(std::vector<Script> scripts, int tls_version = 0) { ServeAs(files_, std::move(scripts), tls_version); }
  void ServeAs(const Files& files, std::vector<Script> scripts, int tls_version = 0) {
    connection_.reset();
    Poll();
    bmc_ = std::make_unique<FakeBmc>(files, std::move(scripts), tls_version);
    options_.port = bmc_->port();
    Open();
  }
  void Open() { connection_ = std::make_unique<BmcConnection>(io_.get_executor(), options_); }
  // Runs the handlers that are ready.
  void Poll() {
    io_.restart();
    io_.poll();
  }
  void Start(BmcRequest request) {
    answer_.reset();
    connection_->Ask(std::move(request), [this](BmcAnswer answer) {
      EXPECT_FALSE(answer_) << "called once";
      answer_ = std::move(answer);
    });
    EXPECT_FALSE(answer_) << "called later";
  }
  BmcAnswer Await() {
    const TimeLimit limit("an answer");
    io_.restart();
    while (!answer_ && io_.run_one() > 0) {
    }
    EXPECT_TRUE(answer_);
    return answer_.value_or(BmcAnswer());
  }
  BmcAnswer Ask(BmcRequest request) {
    Start(std::move(request));
    return Await();
  }
  BmcAnswer Get(const std::string& target = "/redfish/v1/") { return Ask({.target = target}); }
  BmcAnswer LogIn() { return Ask({.method = Method::kLogIn, .target = "/redfish/v1/SessionService/Sessions"}); }
  BmcAnswer LogOut() { return Ask({.method = Method::kLogOut}); }
  // The answer to a GET that the BMC gives in pieces, before it closes the connection.
  BmcAnswer GetInPieces(Texts pieces) {
    Serve({AnswersInPieces(std::move(pieces))});
    return Get();
  }

  const std::string folder_ = testing::TempDir();
  const std::unique_ptr<ThrowawayCa> ca_ = *ThrowawayCa::Create(folder_, "bmc-ca");
  const Files files_ = Issue("bmc", "DNS:localhost,IP:127.0.0.1");
  BmcConnection::Options options_;
  std::unique_ptr<FakeBmc> bmc_;
  asio::io_context io_;
  std::unique_ptr<BmcConnection> connection_;
  std::optional<BmcAnswer> answer_;
};

// Not a matcher, so that a failure shows all of it.
void ExpectError(const BmcAnswer& answer, StatusCode code, const std::string& text) {
  EXPECT_EQ(answer.status.code(), code) << answer.status;
  EXPECT_THAT(std::string(answer.status.message()), HasSubstr(text));
  EXPECT_EQ(answer.status.message().find('\n'), absl::string_view::npos);
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.body, "");
}

TEST_F(BmcConnectionTest, SendsAGetAndReturnsItsAnswer) {
  Serve({AnswersAndStays({Ok("{\"a\": 1}")})});
  const BmcAnswer answer = Get("/redfish/v1/Chassis?$expand=.");
  EXPECT_EQ(answer.status, absl::OkStatus());
  EXPECT_EQ(answer.code, 200);
  EXPECT_EQ(answer.body, "{\"a\": 1}");
  EXPECT_FALSE(answer.retry_after);
  EXPECT_EQ(bmc_->last_request(),
            absl::StrCat("GET /redfish/v1/Chassis?$expand=. HTTP/1.1\r\nHost: 127.0.0.1:", bmc_->port(),
                         "\r\nUser-Agent: sidebandd\r\nAccept: application/json\r\n"
                         "Accept-Encoding: identity\r\nOData-Version: 4.0\r\n\r\n"));
}

TEST_F(BmcConnectionTest, ReturnsOtherAnswersToo) {
  Serve({AnswersAndStays({"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone", "HTTP/1.1 204 No Content\r\n\r\n",
                          "HTTP/1.1 303 See Other\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n"})});
  const BmcAnswer missing = Get();
  EXPECT_EQ(missing.code, 404);
  EXPECT_EQ(missing.body, "none");
  EXPECT_EQ(Get().code, 204);
  EXPECT_EQ(Get().code, 303);
  EXPECT_EQ(bmc_->connections(), 1u);
}

TEST_F(BmcConnectionTest, PutsThePrefixBeforeTargets) {
  options_.prefix = "/hmc";
  Serve({AnswersAndStays({Redirect("/redfish/v1/"), Redirect("/hmc/redfish/v1/Chassis"), Ok("")})});
  EXPECT_EQ(Get("/redfish/v1").code, 200);
  EXPECT_THAT(bmc_->requests(), ElementsAre(StartsWith("GET /hmc/redfish/v1 "), StartsWith("GET /hmc/redfish/v1/ "),
                                            StartsWith("GET /hmc/redfish/v1/Chassis ")));
}

TEST_F(BmcConnectionTest, RefusesTargetsThatWouldAddToTheRequest) {
  Serve({});
  for (const char* const target : {"", "redfish", "/a b", "/a\r\nX: y", "/a\nb", "/a\tb", "/a\x7f", "/\xc3\xa4"}) {
    ExpectError(Get(target), StatusCode::kInvalidArgument, "the target is not a path, or has a space");
  }
  ExpectError(Get("/" + std::string(8 << 10, 'a')), StatusCode::kInvalidArgument, "the target");
  ExpectError(Ask({.method = Method::kLogIn, .target = "/a b"}), StatusCode::kInvalidArgument, "the target");
  options_.host = "bmc\r\nX: y";
  Open();
  ExpectError(Get(), StatusCode::kInvalidArgument, "the host has a space or a control character");
}

TEST_F(BmcConnectionTest, KeepsTheConnection) {
  Serve({AnswersAndStays({Ok("1"), Ok("2"), Ok("3")})});
  for (const char* const body : {"1", "2", "3"}) EXPECT_EQ(Get().body, body);
  EXPECT_EQ(bmc_->connections(), 1u);
}

TEST_F(BmcConnectionTest, ConnectsAnewWhenTheBmcHasClosed) {
  Serve({Answers({"HTTP/1.0 200 OK\r\n\r\n1"}), Answers({Ok("2", "Connection: close\r\n")}), Answers({Ok("3")}),
         AnswersAndStays({"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"})});
  for (const size_t number : {1, 2, 3}) {
    EXPECT_EQ(Get().body, absl::StrCat(number));
    bmc_->WaitForEnds(number);
  }
  EXPECT_EQ(LogIn().code, 401) << "it is not repeated, and yet not lost";
  EXPECT_EQ(bmc_->connections(), 4u);
}

// Closes once a second request has come.
Script AnswersOneOfTwo() {
  return [](FakeBmc& bmc, Peer& peer) {
    Answers({Ok("1")})(bmc, peer);
    bmc.Receive(peer);
  };
}

TEST_F(BmcConnectionTest, RepeatsAGetOnceIfAKeptConnectionEnds) {
  Serve({AnswersOneOfTwo(), AnswersAndStays({Ok("2")})});
  EXPECT_EQ(Get().body, "1");
  EXPECT_EQ(Get().body, "2");
  EXPECT_EQ(bmc_->requests().size(), 3u);
  const Script closes = AnswersInPieces({});
  Serve({AnswersOneOfTwo(), closes, closes});
  EXPECT_EQ(Get().body, "1");
  ExpectError(Get(), StatusCode::kUnavailable, "closed the connection without an answer");
  EXPECT_EQ(bmc_->connections(), 2u);
}

TEST_F(BmcConnectionTest, RepeatsNeitherAFirstGetNorAnAnswerThatHasBegunNorALogin) {
  Serve({AnswersInPieces({}), AnswersAndStays({Ok("2")})});
  ExpectError(Get(), StatusCode::kUnavailable, "closed the connection without an answer");
  EXPECT_EQ(bmc_->connections(), 1u);
  Serve({Answers({Ok("1"), "H"}), AnswersAndStays({Ok("2")})});
  EXPECT_EQ(Get().body, "1");
  ExpectError(Get(), StatusCode::kDataLoss, "the answer ends early");
  EXPECT_EQ(bmc_->connections(), 1u);
  Serve({AnswersOneOfTwo(), AnswersAndStays({Ok("2")})});
  EXPECT_EQ(Get().body, "1");
  ExpectError(LogIn(), StatusCode::kUnavailable, "closed the connection without an answer");
  EXPECT_EQ(bmc_->connections(), 1u);
}

TEST_F(BmcConnectionTest, ClosesAfterBytesThatBelongToNoAnswer) {
  const Script same_record = Answers({Ok("1") + "garbage"});
  std::atomic<bool> is_sent = false;
  const Script own_record = [&](FakeBmc& bmc, Peer& peer) {
    bmc.Receive(peer);
    peer.Send(Ok("2"));
    peer.Send(Ok("forged"));
    is_sent = true;
    bmc.Receive(peer);
  };
  Serve({same_record, own_record, Answers({Ok("3")})});
  EXPECT_EQ(Get().body, "1");
  EXPECT_EQ(Get().body, "2");
  WaitUntil([&] { return is_sent.load(); }, "the second record");
  EXPECT_EQ(Get().body, "3");
}

TEST_F(BmcConnectionTest, SaysWhichCheckOfTheCertificateFailed) {
  const auto other = *ThrowawayCa::Create(folder_, "other-ca");
  const Files expired = SelfSigned("expired", "IP:127.0.0.1", -7200, -3600);
  const Files early = SelfSigned("early", "IP:127.0.0.1", 3600, 7200);
  const struct {
    Files files;
    std::string host, ca_file, why;
  } kRows[] = {
      {files_, "127.0.0.1", other->ca_file(), "the certificate is not signed by the CA in " + other->ca_file()},
      {expired, "127.0.0.1", ca_->ca_file(), "the certificate is not signed by the CA in " + ca_->ca_file()},
      {Issue("name", "DNS:bmc.example.org"), "127.0.0.1", ca_->ca_file(), "the certificate's name is not 127.0.0.1"},
      {Issue("name", "DNS:bmc.example.org"), "localhost", ca_->ca_file(), "the certificate's name is not localhost"},
      {expired, "127.0.0.1", expired.certificate, "the certificate has expired"},
      {early, "127.0.0.1", early.certificate, "the certificate is not valid yet"},
      {files_, "127.0.0.1", folder_ + "/none.pem", "none.pem"},
      {files_, "127.0.0.1", files_.key, "bmc.key: no certificate in PEM form"},
  };
  for (const auto& row : kRows) {
    options_.host = row.host;
    options_.ca_file = row.ca_file;
    ServeAs(row.files, {Answers({Ok("")})});
    ExpectError(Get(), StatusCode::kFailedPrecondition, row.why);
    EXPECT_TRUE(bmc_->requests().empty());
  }
}

TEST_F(BmcConnectionTest, AcceptsAPinnedKeyAlone) {
  const Files expired = SelfSigned("expired", "DNS:bmc.example.org", -7200, -3600);
  options_.ca_file = "";
  options_.pin = PinOf(expired);
  ServeAs(expired, {Answers({Ok("1")})});
  EXPECT_EQ(Get().body, "1");
  ServeAs(files_, {Answers({Ok("1")})});
  ExpectError(Get(), StatusCode::kFailedPrecondition, "the certificate's key is not the one of pin_sha256");
  options_.ca_file = ca_->ca_file();
  ServeAs(files_, {Answers({Ok("1")})});
  ExpectError(Get(), StatusCode::kFailedPrecondition, "the certificate's key is not the one of pin_sha256");
}

TEST_F(BmcConnectionTest, ReadsTheCaFileForEachConnection) {
  options_.ca_file = folder_ + "/changing.pem";
  Write(options_.ca_file, "");
  Serve({Answers({Ok("1")})});
  ExpectError(Get(), StatusCode::kFailedPrecondition, "changing.pem: no certificate in PEM form");
  fs::remove(options_.ca_file);
  fs::copy_file(ca_->ca_file(), options_.ca_file);
  EXPECT_EQ(Get().body, "1");
}

TEST_F(BmcConnectionTest, SendsTheServerNameForNamesOnly) {
  Serve({Answers({Ok("")})});
  EXPECT_EQ(Get().code, 200);
  EXPECT_THAT(bmc_->names(), ElementsAre(""));
  options_.host = "localhost";
  Serve({Answers({Ok("")})});
  EXPECT_EQ(Get().code, 200);
  EXPECT_THAT(bmc_->names(), ElementsAre("localhost"));
  EXPECT_THAT(bmc_->last_request(), HasSubstr(absl::StrCat("\r\nHost: localhost:", bmc_->port(), "\r\n")));
}

TEST_F(BmcConnectionTest, NeedsTls12) {
  Serve({Answers({Ok("1")})}, TLS1_2_VERSION);
  EXPECT_EQ(Get().body, "1");
  Serve({Answers({Ok("1")})}, TLS1_1_VERSION);
  ExpectError(Get(), StatusCode::kUnavailable, "no TLS: ");
}

TEST_F(BmcConnectionTest, ANetworkThatFailsIsUnavailable) {
  Serve({});
  bmc_.reset();
  ExpectError(Get(), StatusCode::kUnavailable, "cannot connect: Connection refused");
}

TEST_F(BmcConnectionTest, EndsAtTheTimeOut) {
  options_.timeout = absl::Milliseconds(100);
  // Nobody accepts the connection.
  const asio::ip::tcp::acceptor silent(io_, {asio::ip::address_v4::loopback(), 0});
  options_.port = silent.local_endpoint().port();
  Open();
  ExpectError(Get(), StatusCode::kDeadlineExceeded, "no answer within 100ms");
  Serve({AnswersAndStays({})});
  ExpectError(Get(), StatusCode::kDeadlineExceeded, "no answer within 100ms");
  // Bytes that come all the time do not extend it.
  const Script drips = [](FakeBmc& bmc, Peer& peer) {
    bmc.Receive(peer);
    peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n");
    while (peer.Send("x")) {
    }
  };
  Serve({drips});
  ExpectError(Get(), StatusCode::kDeadlineExceeded, "no answer within 100ms");
  Serve({AnswersAndStays({Redirect("/other")})});
  ExpectError(Get(), StatusCode::kDeadlineExceeded, "no answer within 100ms");
}

TEST_F(BmcConnectionTest, WorksAgainAfterATimeOut) {
  options_.timeout = absl::Milliseconds(300);
  std::vector<Script> scripts(100, AnswersAndStays({Ok("1")}));
  scripts.front() = AnswersAndStays({});
  Serve(scripts);
  EXPECT_EQ(Get().status.code(), StatusCode::kDeadlineExceeded);
  // On a loaded machine it may take several.
  WaitUntil([&] { return Get().body == "1"; }, "an answer in time");
}

TEST_F(BmcConnectionTest, BoundsTheHeader) {
  const std::string line = "HTTP/1.1 200 OK\r\n", end = "\r\nContent-Length: 1\r\n\r\n";
  const std::string most = line + "A: " + std::string(kHeaderMax - line.size() - 3 - end.size(), 'a') + end;
  EXPECT_EQ(GetInPieces({most + "1"}).body, "1");
  ExpectError(GetInPieces({line + "AA" + most.substr(line.size() + 1) + "1"}), StatusCode::kDataLoss,
              "the answer's header is larger than 64 KiB");
  ExpectError(GetInPieces({line + "A: " + std::string(2 * kHeaderMax, 'a')}), StatusCode::kDataLoss, "64 KiB");
  // Each read ends with a field.
  Texts fields = {line};
  for (size_t size = 0; size <= kHeaderMax; size += 1024) fields.push_back("A: " + std::string(1019, 'a') + "\r\n");
  ExpectError(GetInPieces(fields), StatusCode::kDataLoss, "64 KiB");
}

TEST_F(BmcConnectionTest, BoundsTheBody) {
  const std::string most(BmcConnection::kBodyMax, 'x');
  const std::string header = "HTTP/1.1 200 OK\r\n", chunked = header + "Transfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(GetInPieces({Ok(most)}).body.size(), most.size());
  ExpectError(GetInPieces({Ok(most + "x")}), StatusCode::kDataLoss, "the answer is larger than 4 MiB");
  ExpectError(GetInPieces({header + "Content-Length: 18446744073709551615\r\n\r\n"}), StatusCode::kDataLoss, "4 MiB");
  EXPECT_EQ(GetInPieces({chunked + "400000\r\n" + most + "\r\n0\r\n\r\n"}).body.size(), most.size());
  ExpectError(GetInPieces({chunked + "400000\r\n" + most + "\r\n1\r\nx\r\n0\r\n\r\n"}), StatusCode::kDataLoss, "4 MiB");
  EXPECT_EQ(GetInPieces({header + "\r\n", most}).body.size(), most.size());
  ExpectError(GetInPieces({header + "\r\n", most, "x"}), StatusCode::kDataLoss, "4 MiB");
}

TEST_F(BmcConnectionTest, BoundsWhatIsAroundChunks) {
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", large(2 * kHeaderMax, 'a');
  ExpectError(GetInPieces({chunked + "1;a=" + large}), StatusCode::kDataLoss, "the answer is not HTTP: ");
  ExpectError(GetInPieces({chunked + "0\r\nA: " + large}), StatusCode::kDataLoss, "the answer is not HTTP: ");
}

TEST_F(BmcConnectionTest, ReadsChunks) {
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string answer = chunked + "4;a=b\r\n0\r\nx\r\n3\r\nabc\r\n0\r\nA: b\r\n\r\n";
  EXPECT_EQ(GetInPieces({answer}).body, "0\r\nxabc");
  EXPECT_EQ(GetInPieces(BytesOf(answer)).body, "0\r\nxabc");
  const BmcAnswer empty = GetInPieces(BytesOf(chunked + "0\r\n\r\n"));
  EXPECT_EQ(empty.status, absl::OkStatus());
  EXPECT_EQ(empty.body, "");
  Serve({AnswersAndStays({answer, Ok("2")})});
  EXPECT_EQ(Get().body, "0\r\nxabc");
  EXPECT_EQ(Get().body, "2");
}

TEST_F(BmcConnectionTest, NoticesAnAnswerThatEndsEarly) {
  const std::string header = "HTTP/1.1 200 OK\r\n";
  for (const std::string& part :
       {std::string("HTTP/1."), header, header + "A: b\r\n", header + "Content-Length: 2\r\n\r\nx",
        header + "Transfer-Encoding: chunked\r\n\r\n", header + "Transfer-Encoding: chunked\r\n\r\n2\r\nxy\r\n",
        header + "Transfer-Encoding: chunked\r\n\r\n0\r\nX", std::string("HTTP/1.1 100 Continue\r\n\r\n")}) {
    ExpectError(GetInPieces({part}), StatusCode::kDataLoss, "the answer ends early");
  }
  EXPECT_EQ(GetInPieces({header + "\r\nxy"}).body, "xy");
  const Script cuts = [header](FakeBmc& bmc, Peer& peer) {
    bmc.Receive(peer);
    peer.Send(header + "\r\nxy");
    peer.Cut();
  };
  Serve({cuts});
  ExpectError(Get(), StatusCode::kDataLoss, "the answer ends early");
}

TEST_F(BmcConnectionTest, RefusesWhatIsNotHttp) {
  const std::string header = "HTTP/1.1 200 OK\r\n";
  for (const std::string& answer :
       {std::string("SSH-2.0-dropbear\r\n"), std::string("HTTP/2 200 OK\r\n\r\n"), header + "A b\r\n\r\n",
        header + "Content-Length: -1\r\n\r\n", header + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxy",
        header + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        header + "Transfer-Encoding: chunked\r\n\r\nx\r\n", std::string("HTTP/1.1 101 Switching Protocols\r\n\r\n")}) {
    ExpectError(GetInPieces({answer}), StatusCode::kDataLoss, "the answer is not HTTP: ");
  }
  ExpectError(GetInPieces({Ok("x", "Content-Encoding: gzip\r\n")}), StatusCode::kDataLoss, "the answer is compressed");
  ExpectError(GetInPieces({header + "Transfer-Encoding: gzip\r\n\r\nx"}), StatusCode::kDataLoss, "transfer coding");
  EXPECT_EQ(GetInPieces({Ok("x", "Content-Encoding: identity\r\n")}).body, "x");
}

TEST_F(BmcConnectionTest, BoundsAnswersBeforeTheAnswer) {
  const std::string interim = "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n";
  std::string interims;
  for (int i = 0; i < 8; ++i) interims += interim;
  EXPECT_EQ(GetInPieces({interims + Ok("1")}).body, "1");
  EXPECT_EQ(GetInPieces(BytesOf(interims + Ok("1"))).body, "1");
  ExpectError(GetInPieces({interims + interim + Ok("1")}), StatusCode::kDataLoss, "answers 1xx");
}

TEST_F(BmcConnectionTest, EndsAtABurstOfKeyUpdates) {
  const Script updates = [](FakeBmc& bmc, Peer& peer) {
    bmc.Receive(peer);
    peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    for (int i = 0; i < 20; ++i) {
      peer.UpdateKeys();
      peer.Send("x");
    }
    bmc.Receive(peer);
  };
  Serve({updates});
  ExpectError(Get(), StatusCode::kDataLoss, "the answer ends early");
}

TEST_F(BmcConnectionTest, FollowsARedirectWithinTheOrigin) {
  for (const int code : {301, 302, 307, 308}) {
    Serve({AnswersAndStays({Redirect("/redfish/v1/#here", code), Ok("1")})});
    EXPECT_EQ(Get("/redfish/v1").body, "1") << code;
    EXPECT_THAT(bmc_->requests(), ElementsAre(StartsWith("GET /redfish/v1 "), StartsWith("GET /redfish/v1/ ")));
    EXPECT_EQ(bmc_->connections(), 1u);
  }
  options_.host = "localhost";
  const Script to_url = [](FakeBmc& bmc, Peer& peer) {
    Answers({Redirect(absl::StrCat("HTTPS://LocalHost:", bmc.port(), "/a")),
             Redirect(absl::StrCat("//localhost:", bmc.port(), "/b")), Ok("1")})(bmc, peer);
  };
  Serve({to_url});
  EXPECT_EQ(Get().body, "1");
  EXPECT_THAT(bmc_->last_request(), StartsWith("GET /b HTTP/1.1\r\n"));
}

TEST_F(BmcConnectionTest, FollowsAtMostThreeRedirects) {
  const std::string next = Redirect("/a");
  Serve({AnswersAndStays({next, next, next, Ok("1"), next, next, next, next, Ok("1")})});
  EXPECT_EQ(Get().body, "1");
  ExpectError(Get(), StatusCode::kDataLoss, "redirects more than three times");
  EXPECT_EQ(bmc_->requests().size(), 8u);
}

TEST_F(BmcConnectionTest, FollowsNoRedirectToAnotherOrigin) {
  for (const char* const location :
       {"", "https://127.0.0.1/a", "https://127.0.0.1:1/a", "https://127.0.0.1:1", "//example.org/a",
        "https://example.org/a", "http://127.0.0.1/a", "https://127.0.0.1@example.org/a", "https:///a", "a", "/a b",
        "javascript:a", "\\\\example.org\\a"}) {
    Serve({AnswersAndStays({Redirect(location), Ok("1")})});
    ExpectError(Get(), StatusCode::kDataLoss, "redirects to another origin");
    EXPECT_EQ(bmc_->requests().size(), 1u) << location;
  }
}

TEST_F(BmcConnectionTest, TellsWhenToAskAgain) {
  const struct {
    int code;
    std::string fields;
    std::optional<absl::Duration> after;
  } kRows[] = {
      {503, "Retry-After: 120\r\n", absl::Seconds(120)},
      {429, "Retry-After: 0\r\n", absl::ZeroDuration()},
      {503, "Retry-After: 3601\r\n", absl::Hours(1)},
      {503, "Retry-After: 99999999999999999999\r\n", absl::Hours(1)},
      {503, "Retry-After: -1\r\n", std::nullopt},
      {503, "Retry-After: soon\r\n", std::nullopt},
      {503, "", std::nullopt},
      {200, "Retry-After: 120\r\n", std::nullopt},
      {503, "Date: Sat, 01 Jan 2000 00:00:00 GMT\r\nRetry-After: Sat, 01 Jan 2000 00:01:30 GMT\r\n", absl::Seconds(90)},
      {503, "Date: Sat, 01 Jan 2000 00:00:00 GMT\r\nRetry-After: Fri, 31 Dec 1999 23:00:00 GMT\r\n",
       absl::ZeroDuration()},
      {503, "Date: Sat, 01 Jan 2000 00:00:00 GMT\r\nRetry-After: Sun, 02 Jan 2000 00:00:00 GMT\r\n", absl::Hours(1)},
      {503, "Retry-After: Sun, 02 Jan 2000 00:00:00 GMT\r\n", std::nullopt},
  };
  for (const auto& row : kRows) {
    const BmcAnswer answer =
        GetInPieces({absl::StrCat("HTTP/1.1 ", row.code, " Busy\r\nContent-Length: 0\r\n", row.fields, "\r\n")});
    EXPECT_EQ(answer.code, row.code);
    EXPECT_EQ(answer.retry_after, row.after) << row.fields;
  }
}

std::string Session(absl::string_view token, absl::string_view fields = "", absl::string_view body = "{}") {
  return absl::StrCat("HTTP/1.1 201 Created\r\nX-Auth-Token: ", token, "\r\n", fields, "Content-Length: ", body.size(),
                      "\r\n\r\n", body);
}

TEST_F(BmcConnectionTest, LogsInReadsAndLogsOut) {
  Serve({AnswersAndStays({Session("t0ken", "Location: /redfish/v1/SessionService/Sessions/7\r\n", "{\"Id\": \"7\"}"),
                          Ok("1"), "HTTP/1.1 204 No Content\r\n\r\n", Ok("2")})});
  EXPECT_FALSE(connection_->has_session());
  const BmcAnswer login = LogIn();
  EXPECT_EQ(login.code, 201);
  EXPECT_EQ(login.body, "");
  EXPECT_TRUE(connection_->has_session());
  EXPECT_EQ(Get().body, "1");
  EXPECT_EQ(LogOut().code, 204);
  EXPECT_FALSE(connection_->has_session());
  EXPECT_EQ(Get().body, "2");
  const std::string body = R"({"UserName":"side\u0022band","Password":"pass\u005cword \u00227\u0022\u0001"})";
  const Texts requests = bmc_->requests();
  ASSERT_EQ(requests.size(), 4u);
  EXPECT_THAT(requests[0], StartsWith("POST /redfish/v1/SessionService/Sessions HTTP/1.1\r\nHost: 127.0.0.1:"));
  EXPECT_THAT(requests[0], testing::EndsWith(absl::StrCat(
                               "Content-Type: application/json\r\nContent-Length: ", body.size(), "\r\n\r\n", body)));
  EXPECT_THAT(requests[0], Not(HasSubstr("X-Auth-Token")));
  EXPECT_THAT(requests[1], testing::EndsWith("\r\nX-Auth-Token: t0ken\r\n\r\n"));
  EXPECT_THAT(requests[2], StartsWith("DELETE /redfish/v1/SessionService/Sessions/7 HTTP/1.1\r\n"));
  EXPECT_THAT(requests[2], testing::EndsWith("\r\nX-Auth-Token: t0ken\r\n\r\n"));
  EXPECT_THAT(requests[3], Not(HasSubstr("X-Auth-Token")));
}

TEST_F(BmcConnectionTest, FindsTheSessionToLogOut) {
  const struct {
    std::string fields, body, target;  // empty: nothing is deleted
  } kRows[] = {
      {"Location: /s/1\r\n", "{\"@odata.id\": \"/s/2\"}", "/s/1"},
      {"Location: https://127.0.0.1:PORT/s/1\r\n", "{}", "/s/1"},
      {"", "{\"@odata.id\": \"/s/2\"}", "/s/2"},
      {"Location: https://example.org/s/1\r\n", "{\"@odata.id\": \"/s/2\"}", "/s/2"},
      {"Location: https://example.org/s/1\r\n", "{\"@odata.id\": \"https://example.org/s/1\"}", ""},
      {"", "{\"@odata.id\": 7}", ""},
      {"", "{\"@odata.id\": \"/a\\r\\nX: y\"}", ""},
      {"", "[[[", ""},
      {"", "[]", ""},
      {"", "", ""},
      {"", std::string(60 << 10, '['), ""},
      {"", "{\"@odata.id\": \"/s/2\", \"a\": \"" + std::string(64 << 10, 'a') + "\"}", ""},
  };
  for (const auto& row : kRows) {
    const Script script = [row](FakeBmc& bmc, Peer& peer) {
      const std::string port = absl::StrCat(bmc.port());
      AnswersAndStays({Session("t", absl::StrReplaceAll(row.fields, {{"PORT", port}}), row.body), Ok("")})(bmc, peer);
    };
    Serve({script});
    EXPECT_EQ(LogIn().code, 201);
    EXPECT_TRUE(connection_->has_session());
    EXPECT_EQ(LogOut().code, row.target.empty() ? 204 : 200) << row.fields << row.body.substr(0, 100);
    EXPECT_FALSE(connection_->has_session());
    const Texts requests = bmc_->requests();
    EXPECT_EQ(requests.size(), row.target.empty() ? 1u : 2u);
    if (!row.target.empty()) EXPECT_THAT(requests.back(), StartsWith("DELETE " + row.target + " HTTP"));
  }
}

TEST_F(BmcConnectionTest, ForgetsTheOldSessionAtALogin) {
  Serve(
      {AnswersAndStays({Session("old", "Location: /s/1\r\n"), "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n",
                        Session("new"), Ok(""), "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"})});
  EXPECT_EQ(LogIn().code, 201);
  EXPECT_EQ(Get().code, 401);
  EXPECT_TRUE(connection_->has_session()) << "the caller decides";
  EXPECT_EQ(LogIn().code, 201);
  EXPECT_THAT(bmc_->last_request(), Not(HasSubstr("old")));
  EXPECT_EQ(Get().code, 200);
  EXPECT_THAT(bmc_->last_request(), HasSubstr("X-Auth-Token: new\r\n"));
  EXPECT_EQ(LogIn().code, 401);
  EXPECT_FALSE(connection_->has_session());
}

TEST_F(BmcConnectionTest, ForgetsTheSessionWhateverTheLogoutsAnswer) {
  Serve({Answers({Session("t", "Location: /s/1\r\n"), "garbage\r\n"})});
  EXPECT_EQ(LogIn().code, 201);
  ExpectError(LogOut(), StatusCode::kDataLoss, "the answer is not HTTP: ");
  EXPECT_FALSE(connection_->has_session());
  EXPECT_EQ(LogOut().code, 204) << "at once";
  EXPECT_EQ(bmc_->requests().size(), 2u);
}

TEST_F(BmcConnectionTest, SendsTheTokenToNoOtherOrigin) {
  Serve({AnswersAndStays({Session("t"), Redirect("https://example.org/a")})});
  EXPECT_EQ(LogIn().code, 201);
  ExpectError(Get(), StatusCode::kDataLoss, "redirects to another origin");
  EXPECT_TRUE(connection_->has_session());
}

TEST_F(BmcConnectionTest, RefusesALoginWithoutAToken) {
  for (const std::string& token :
       {std::string(""), std::string("a b"), std::string("\xc3\xa4"), std::string(5000, 'a')}) {
    Serve({AnswersAndStays({Session(token)})});
    ExpectError(LogIn(), StatusCode::kDataLoss, "the login's answer has no token");
    EXPECT_FALSE(connection_->has_session());
  }
  Serve({AnswersAndStays({Redirect("/other")})});
  EXPECT_EQ(LogIn().code, 307) << "a login follows no redirect";
}

TEST_F(BmcConnectionTest, ReadsThePasswordAtEachLogin) {
  const std::string refused = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n";
  Serve({AnswersAndStays({refused, refused, refused})});
  for (const auto& [file, password] :
       {std::pair("one", "one"), std::pair("two\r\n", "two"), std::pair("three\n\n", "three\\u000a")}) {
    Write(options_.password_file, file);
    EXPECT_EQ(LogIn().code, 401);
    EXPECT_THAT(bmc_->last_request(), HasSubstr(absl::StrCat("\"Password\":\"", password, "\"}")));
  }
}

TEST_F(BmcConnectionTest, NeedsAPasswordFileThatIsPrivate) {
  Serve({Answers({Session("t")})});
  Write(options_.password_file, "secret", fs::perms::owner_read | fs::perms::others_read);
  const BmcAnswer open = LogIn();
  ExpectError(open, StatusCode::kFailedPrecondition, "bmc.password: a password or token that other users may access");
  EXPECT_THAT(std::string(open.status.message()), Not(HasSubstr("secret")));
  Write(options_.password_file, "\n");
  ExpectError(LogIn(), StatusCode::kFailedPrecondition, "bmc.password: is empty");
  Write(options_.password_file, std::string(4097, 'x'));
  ExpectError(LogIn(), StatusCode::kFailedPrecondition, "bmc.password: is larger than 4096 bytes");
  fs::remove(options_.password_file);
  ExpectError(LogIn(), StatusCode::kFailedPrecondition, "bmc.password");
  EXPECT_EQ(bmc_->connections(), 0u);
  Write(options_.password_file, std::string(4096, 'x'));
  EXPECT_EQ(LogIn().code, 201);
}

TEST_F(BmcConnectionTest, UsesATokenFromAFile) {
  options_.user = options_.password_file = "";
  options_.session_token_file = folder_ + "/bmc.token";
  Write(options_.session_token_file, "made-elsewhere\n");
  Serve({AnswersAndStays({Ok("1"), Ok("2")})});
  EXPECT_EQ(LogIn().code, 200);
  EXPECT_TRUE(connection_->has_session());
  EXPECT_EQ(bmc_->connections(), 0u);
  EXPECT_EQ(Get().body, "1");
  EXPECT_THAT(bmc_->last_request(), HasSubstr("\r\nX-Auth-Token: made-elsewhere\r\n"));
  EXPECT_EQ(LogOut().code, 204);
  EXPECT_FALSE(connection_->has_session());
  EXPECT_EQ(bmc_->requests().size(), 1u) << "the session is not the daemon's to delete";
  Write(options_.session_token_file, "one\r\nX: y\n");
  const BmcAnswer answer = LogIn();
  ExpectError(answer, StatusCode::kFailedPrecondition, "bmc.token: is not a token");
  Write(options_.session_token_file, "token", fs::perms::owner_read | fs::perms::others_read);
  ExpectError(LogIn(), StatusCode::kFailedPrecondition, "bmc.token: a password or token that other users may access");
}

TEST_F(BmcConnectionTest, CloseEndsTheRequestUnderWay) {
  Serve({AnswersAndStays({Session("t")})});
  EXPECT_EQ(LogIn().code, 201);
  Start({.target = "/redfish/v1/"});
  WaitUntil(
      [&] {
        Poll();
        return bmc_->requests().size() == 2;
      },
      "the request to arrive");
  connection_->Close();
  EXPECT_FALSE(connection_->has_session());
  ExpectError(Await(), StatusCode::kCancelled, "the connection was closed");
  ExpectError(Get(), StatusCode::kCancelled, "the connection was closed");
  bmc_->WaitForEnds(1);
}

TEST_F(BmcConnectionTest, CloseReplacesAnAnswerThatWasNotCalledYet) {
  Serve({});
  Start({.method = Method::kLogOut});
  connection_->Close();
  ExpectError(Await(), StatusCode::kCancelled, "the connection was closed");
}

TEST_F(BmcConnectionTest, DestructionEndsTheRequestUnderWay) {
  // At each step of a request.
  for (int steps = 0; steps < 12; ++steps) {
    Serve({AnswersAndStays({})});
    options_.host = steps % 2 == 0 ? "127.0.0.1" : "localhost";
    Open();
    Start({.target = "/redfish/v1/"});
    io_.restart();
    for (int i = 0; i < steps / 2; ++i) io_.run_one_for(std::chrono::milliseconds(20));
    connection_.reset();
    const TimeLimit limit("the operations to end");
    io_.restart();
    io_.run();
    EXPECT_FALSE(answer_);
  }
}

TEST_F(BmcConnectionTest, DoneMayAskAndDestroyTheConnection) {
  Serve({AnswersAndStays({Ok("1"), Ok("2")})});
  std::string bodies;
  connection_->Ask({.target = "/1"}, [&](BmcAnswer first) {
    bodies += first.body;
    connection_->Ask({.target = "/2"}, [&](BmcAnswer second) {
      bodies += second.body;
      connection_.reset();
    });
  });
  const TimeLimit limit("the operations to end");
  io_.restart();
  io_.run();
  EXPECT_EQ(bodies, "12");
}

TEST_F(BmcConnectionTest, RefusesASecondRequestAtATime) {
  Serve({AnswersAndStays({Ok("1")})});
  Start({.target = "/1"});
  absl::Status second;
  connection_->Ask({.target = "/2"}, [&](BmcAnswer answer) { second = answer.status; });
  EXPECT_EQ(Await().body, "1");
  EXPECT_EQ(second.code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace sideband::daemon
