// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/key_updates.h"

#include <openssl/ssl.h>

#include "proto/base/steady_time.h"

namespace sideband::daemon {
namespace {

void Free(void*, void* updates, CRYPTO_EX_DATA*, int, long, void*) { delete static_cast<KeyUpdates*>(updates); }

// Where a connection keeps its KeyUpdates. Most connections never have any.
int Place() {
  static const int place = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, Free);
  return place;
}

KeyUpdates* UpdatesOf(const SSL* ssl) { return static_cast<KeyUpdates*>(SSL_get_ex_data(ssl, Place())); }

KeyUpdates* NewUpdatesOf(SSL* ssl) {
  auto* const updates = new KeyUpdates;
  if (SSL_set_ex_data(ssl, Place(), updates) == 1) return updates;
  delete updates;
  return nullptr;
}

void OnMessage(int sent, int, int type, const void* bytes, size_t size, SSL* ssl, void*) {
  if (sent != 0 || type != SSL3_RT_HANDSHAKE || size == 0) return;
  if (*static_cast<const unsigned char*>(bytes) != SSL3_MT_KEY_UPDATE) return;
  KeyUpdates* const known = UpdatesOf(ssl);
  KeyUpdates* const updates = known != nullptr ? known : NewUpdatesOf(ssl);
  if (updates != nullptr) updates->Add(SteadyNow());
  // As if the peer had closed its direction: OpenSSL decrypts nothing more of it. Writing a farewell is still possible.
  if (updates == nullptr || updates->are_too_many())
    SSL_set_shutdown(ssl, SSL_get_shutdown(ssl) | SSL_RECEIVED_SHUTDOWN);
}

}  // namespace

void KeyUpdates::Add(absl::Duration now) {
  absl::Duration& oldest = times_[count_ % kMax];
  oldest = now;
  ++count_;
  if (count_ < kMax) return;
  // The oldest of the newest kMax is the next to be overwritten.
  if (now - times_[count_ % kMax] < kWithin) are_too_many_ = true;
}

void EndAtKeyUpdates(SSL_CTX& context) {
  Place();
  SSL_CTX_set_msg_callback(&context, OnMessage);
}

bool HasTooManyKeyUpdates(const SSL* ssl) {
  const KeyUpdates* const updates = UpdatesOf(ssl);
  return updates != nullptr && updates->are_too_many();
}

}  // namespace sideband::daemon
