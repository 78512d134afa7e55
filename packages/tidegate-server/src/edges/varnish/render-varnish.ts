import type { Rendered } from "../rendered.js";
import { fingerprintVcl } from "./fingerprint-vcl.js";
import { lookVcl } from "./look-vcl.js";
import { ordersVcl } from "./orders-vcl.js";
import { tableVcl } from "./table-vcl.js";
import { parseVarnishOptions, type VarnishNames, type VarnishRenderOptions } from "./varnish-options.js";

/**
 * One file to include before everything else. It brings its own part of each subroutine, which Varnish runs before yours: no calls
 * have to be written.
 */
export function renderVarnish(options: VarnishRenderOptions = {}): Rendered {
  const names = parseVarnishOptions(options);
  const text = [head(names), fingerprintVcl(names), ordersVcl(names), lookVcl, tableVcl(names)].join("\n");
  return { files: [{ name: "tidegate.vcl", text }] };
}

function head({ listener, storage }: VarnishNames): string {
  return `# Tidegate: include this file first, right after \`vcl 4.1;\`. It brings its part of each subroutine, which runs before yours.
#
#   vcl 4.1;
#   include "tidegate.vcl";
#   backend default { .host = "127.0.0.1"; .port = "8080"; }
#
# The backend is Tidegate's proxy, which counts and passes requests on to the app. A file that is not in Varnish's vcl_path
# (/etc/varnish) is included by its whole path, or as "./tidegate.vcl" from beside it.
#
# Varnish needs a listener that takes orders${storage === undefined ? "" : " and a storage for the table"}, beside its usual ones: -a ${listener}=127.0.0.1:6091${
    storage === undefined ? "" : ` -s ${storage}=default,8m`
  }
# While a client is looked up its request has three headers more: it may have 55 instead of 58, beyond is 431. More room: -p http_max_hdr=128
# Your own vcl_recv runs after the table was looked up by restarts: write req.http.X-Tidegate-Step == "first" for req.restarts == 0.
vcl 4.1;

import blob;
import digest;
import purge;
import std;
`;
}
