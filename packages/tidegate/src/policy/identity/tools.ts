/** A scanner, fuzzer or scraper, known by what it calls itself unless told otherwise. */
export interface Tool {
  readonly name: string;
  /** What its user agent holds, in lower case, at the start of a word. */
  readonly token: string;
  /** A user agent it sends by default. */
  readonly example: string;
  /** Where that default is written down: a repository and a file in it. */
  readonly source: string;
}

/**
 * Ordinary clients (curl, python-requests, Go-http-client) are not here: honest programs use them too. Nor are tools
 * whose default is a browser's string. To be named here lowers limits where a rule counts by `broad`; it refuses nobody.
 */
export const tools: readonly Tool[] = [
  tool(
    "sqlmap",
    "sqlmap",
    "sqlmap/1.4#stable (http://sqlmap.org)",
    "sqlmapproject/sqlmap lib/core/settings.py",
  ),
  tool(
    "Scrapy",
    "scrapy",
    "Scrapy/2.11.2 (+https://scrapy.org)",
    "scrapy/scrapy scrapy/settings/default_settings.py",
  ),
  tool(
    "SimplePie",
    "simplepie",
    "SimplePie/1.3.1 (Feed Parser; http://simplepie.org; Allow like Gecko) Build/20121030175911",
    "simplepie/simplepie library/SimplePie.php",
  ),
  tool("Nutch", "nutch", "MyCrawler/Nutch-1.21", "apache/nutch conf/nutch-default.xml (http.agent.version)"),
  tool("ffuf", "fuzz faster u fool", "Fuzz Faster U Fool v2.1.0-dev", "ffuf/ffuf pkg/runner/simple.go"),
  tool("wfuzz", "wfuzz", "Wfuzz/2.4", "xmendez/wfuzz src/wfuzz/facade.py"),

  tool(
    "Nikto",
    "nikto",
    "Mozilla/5.00 (Nikto/2.1.6) (Evasions:None) (Test:000001)",
    "sullo/nikto program/nikto.conf.default (the default up to 2.1.6, an example since)",
  ),
  tool(
    "Nuclei",
    "nuclei - open-source project",
    "Nuclei - Open-source project (github.com/projectdiscovery/nuclei)",
    "projectdiscovery/nuclei v2/pkg/protocols/http/build_request_test.go",
  ),
  tool(
    "httpx",
    "httpx - open-source project",
    "httpx - Open-source project (github.com/projectdiscovery/httpx)",
    "projectdiscovery/httpx common/httpx/option.go",
  ),
  tool("gobuster", "gobuster/", "gobuster/3.6", "OJ/gobuster libgobuster/helpers.go"),
  tool("feroxbuster", "feroxbuster/", "feroxbuster/2.10.4", "epi052/feroxbuster src/config/utils.rs"),
  tool(
    "DirBuster",
    "dirbuster",
    "DirBuster-1.0-RC1 (http://www.owasp.org/index.php/Category:OWASP_DirBuster_Project)",
    "KajanM/DirBuster src/com/sittinglittleduck/DirBuster/Config.java",
  ),
  tool(
    "WPScan",
    "wpscan",
    "WPScan v3.8.24 (https://wpscan.com/wordpress-security-scanner)",
    "wpscanteam/CMSScanner lib/cms_scanner/browser/options.rb (default_user_agent)",
  ),
  tool(
    "masscan",
    "masscan/",
    "ivre-masscan/1.3 https://github.com/robertdavidgraham/",
    "robertdavidgraham/masscan src/proto-http.c",
  ),
  tool("ZGrab", "zgrab/", "Mozilla/5.0 zgrab/0.x", "zmap/zgrab2 modules/http/scanner.go"),
  tool(
    "Nmap",
    "nmap scripting engine",
    "Mozilla/5.0 (compatible; Nmap Scripting Engine; https://nmap.org/book/nse.html)",
    "nmap/nmap nselib/http.lua",
  ),
  tool("Hydra", "(hydra)", "Mozilla/5.0 (Hydra)", "vanhauser-thc/thc-hydra hydra-http-form.c"),
  tool(
    "w3af",
    "w3af.org",
    "Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Trident/4.0; w3af.org)",
    "andresriancho/w3af w3af/core/data/url/constants.py",
  ),
  tool("Arachni", "arachni/", "Arachni/v1.5.1", "Arachni/arachni lib/arachni/option_groups/http.rb"),
  tool(
    "commix",
    "commix/",
    "commix/v4.1 (https://commixproject.com)",
    "commixproject/commix src/utils/settings.py",
  ),
  tool("WhatWeb", "whatweb/", "WhatWeb/0.5.5", "urbanadventurer/WhatWeb lib/whatweb.rb"),
  tool(
    "OpenVAS",
    "openvas",
    "Mozilla/5.0 [en] (X11, U; OpenVAS-VT 22.4.1)",
    "greenbone/openvas-scanner misc/user_agent.c",
  ),
  tool("skipfish", "mozilla/5.0 sf/", "Mozilla/5.0 SF/2.10b", "spinkham/skipfish src/http_client.c"),
  tool("fimap", "fimap.googlecode.com", "fimap.googlecode.com/v1.00", "kurobeats/fimap src/fimap.py"),
  tool(
    "Tsunami",
    "tsunamisecurityscanner",
    "TsunamiSecurityScanner",
    "google/tsunami-security-scanner common/src/main/java/com/google/tsunami/common/net/http/HttpClient.java",
  ),

  tool(
    "HTTrack",
    "httrack",
    "Mozilla/4.5 (compatible; HTTrack 3.0x; Windows 98)",
    "xroche/httrack src/htsserver.c",
  ),
  tool(
    "Heritrix",
    "heritrix/",
    "Mozilla/5.0 (compatible; heritrix/3.4.0 +http://example.com)",
    "internetarchive/heritrix3 modules/src/main/java/org/archive/modules/CrawlMetadata.java",
  ),
  tool(
    "crawler4j",
    "crawler4j",
    "crawler4j (https://github.com/yasserg/crawler4j/)",
    "yasserg/crawler4j crawler4j/src/main/java/edu/uci/ics/crawler4j/crawler/CrawlConfig.java",
  ),
  tool("Colly", "colly - http", "colly - https://github.com/gocolly/colly/v2", "gocolly/colly colly.go"),
  tool("Geziyor", "geziyor", "Geziyor 1.0", "geziyor/geziyor client/client.go"),
  tool(
    "pyspider",
    "pyspider/",
    "pyspider/0.3.10 (+http://pyspider.org/)",
    "binux/pyspider pyspider/fetcher/tornado_fetcher.py",
  ),
  tool(
    "simplecrawler",
    "node/simplecrawler",
    "Node/simplecrawler 1.1.9 (https://github.com/cgiffard/node-simplecrawler)",
    "simplecrawler/simplecrawler README.md (crawler.userAgent)",
  ),
  tool("Anemone", "anemone/", "Anemone/0.7.2", "chriskite/anemone lib/anemone/core.rb"),
  tool("newspaper", "newspaper/0.", "newspaper/0.2.8", "codelucas/newspaper newspaper/configuration.py"),
];

/** The tool a user agent names, if any. Only its first 512 characters are looked at. */
export function toolOf(userAgent: string): Tool | undefined {
  const text = userAgent.slice(0, 512).toLowerCase();
  let isInWord = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (!isInWord && code < 128) {
      for (const tool of byFirstCode[code]!) if (text.startsWith(tool.token, at)) return tool;
    }
    isInWord = isLetterOrDigit(code);
  }
  return undefined;
}

function isLetterOrDigit(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
}

const byFirstCode = Array.from({ length: 128 }, (_, code) =>
  tools.filter(({ token }) => token.charCodeAt(0) === code),
);

function tool(name: string, token: string, example: string, source: string): Tool {
  return { name, token, example, source };
}
