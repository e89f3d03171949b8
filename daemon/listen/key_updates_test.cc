// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/key_updates.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <memory>

#include "daemon/config/fake_certificates.h"
#include "daemon/listen/listener_tls.h"
#include "daemon/metrics/self_metrics.h"
#include "proto/base/openssl.h"

namespace sideband::daemon {
namespace {

TEST(KeyUpdatesTest, TheTenthWithinAMinuteIsTooMany) {
  KeyUpdates updates;
  for (int i = 0; i < 9; ++i) updates.Add(absl::Seconds(i));
  EXPECT_FALSE(updates.are_too_many());
  updates.Add(absl::Seconds(59));
  EXPECT_TRUE(updates.are_too_many());
}

TEST(KeyUpdatesTest, AnyMinuteCounts) {
  KeyUpdates updates;
  for (int i = 0; i < 100; ++i) updates.Add(absl::Seconds(7) * i);
  EXPECT_FALSE(updates.are_too_many()) << "nine a minute";
  for (int i = 0; i < 8; ++i) updates.Add(absl::Seconds(7 * 99 + 1));
  EXPECT_TRUE(updates.are_too_many());
  updates.Add(absl::Hours(1));
  EXPECT_TRUE(updates.are_too_many()) << "it stays so";
}

// A TLS 1.3 connection in memory.
class KeyUpdateConnectionTest : public testing::Test {
 protected:
  KeyUpdateConnectionTest() {
    TlsServerConfig config = ca_.Server();
    config.client_auth = ClientAuth::kNone;
    tls_ = *ListenerTls::Create("http", config, ApplicationProtocol::kAny, *metrics_);
    server_.reset(SSL_new(tls_->Current().context.get()));
    BIO *client_end = nullptr, *server_end = nullptr;
    BIO_new_bio_pair(&client_end, 0, &server_end, 0);
    SSL_set_bio(client_.get(), client_end, client_end);
    SSL_set_bio(server_.get(), server_end, server_end);
    SSL_set_connect_state(client_.get());
    SSL_set_accept_state(server_.get());
    for (int i = 0; i < 10; ++i) {
      SSL_do_handshake(client_.get());
      SSL_do_handshake(server_.get());
    }
  }

  void Update() {
    ASSERT_EQ(SSL_key_update(client_.get(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
    ASSERT_EQ(SSL_do_handshake(client_.get()), 1);
  }
  // A byte from the client, or what SSL_get_error() says.
  int Pass() {
    SSL_write(client_.get(), "x", 1);
    char byte = 0;
    int read = SSL_read(server_.get(), &byte, 1);
    // A KeyUpdate before the byte.
    for (int i = 0; i < 20 && SSL_get_error(server_.get(), read) == SSL_ERROR_WANT_READ; ++i) {
      read = SSL_read(server_.get(), &byte, 1);
    }
    return read == 1 ? SSL_ERROR_NONE : SSL_get_error(server_.get(), read);
  }

  const FakeCa ca_{"ca", testing::TempDir()};
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  std::unique_ptr<ListenerTls> tls_;
  const SslContextPtr context_{SSL_CTX_new(TLS_client_method())};
  const SslPtr client_{SSL_new(context_.get())};
  SslPtr server_;
};

TEST_F(KeyUpdateConnectionTest, NineAreAccepted) {
  for (int i = 0; i < 9; ++i) Update();
  EXPECT_EQ(Pass(), SSL_ERROR_NONE);
  EXPECT_FALSE(HasTooManyKeyUpdates(server_.get()));
}

TEST_F(KeyUpdateConnectionTest, TheTenthEndsTheConnection) {
  EXPECT_EQ(Pass(), SSL_ERROR_NONE);
  for (int i = 0; i < 10; ++i) Update();
  EXPECT_EQ(Pass(), SSL_ERROR_ZERO_RETURN);
  EXPECT_TRUE(HasTooManyKeyUpdates(server_.get()));
  EXPECT_EQ(SSL_write(server_.get(), "bye", 3), 3) << "a farewell is possible";
}

}  // namespace
}  // namespace sideband::daemon
