#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
exec ../npm_page/bin/node --test daemon/http/web/board.test.js daemon/http/web/page.test.js daemon/http/web/plain.test.js
