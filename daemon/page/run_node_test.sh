#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
exec ../npm_page/bin/node --test daemon/page/web/board.test.js daemon/page/web/page.test.js daemon/page/web/plain.test.js
