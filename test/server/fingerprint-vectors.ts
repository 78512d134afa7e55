/** One request, and the digests every place that knows it must come to. */
export interface FingerprintVector {
  readonly name: string;
  /** As the client sends them. */
  readonly host: string;
  readonly path: string;
  readonly method: string;
  /** As the client connects; digests hold it in canonical form. */
  readonly address: string;
  /** One character per byte. Empty: no such header. */
  readonly userAgent: string;
  readonly standard: DigestPair;
  /** As of a known tool, whatever the user agent says. */
  readonly broad: DigestPair;
}

/** In both forms. */
interface DigestPair {
  readonly sha256: string;
  readonly seed: string;
}

/**
 * The same for TypeScript, VCL and HAProxy. The digests were worked out of bytes written down by hand, by another program than
 * any of these.
 */
export const fingerprintVectors: readonly FingerprintVector[] = [
  {
    name: "plain",
    host: "www.example.com",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "67c6a07e0de7ed993923808d41c9be41690035f139b49b0d958b7da358035c73",
      seed: "2af0cbc7611b3477a5e28385764cbacc8c85409a",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "an empty path below a name",
    host: "www.example.com",
    path: "/",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "028ff380852829e46a7f2e9d5c859942f950563ebd7f11515bd88d214cacb2aa",
      seed: "a7b5e575d0c9fbc543c1f24afecef85cf34936c7",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "a port after the host",
    host: "www.example.com:8443",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "67c6a07e0de7ed993923808d41c9be41690035f139b49b0d958b7da358035c73",
      seed: "2af0cbc7611b3477a5e28385764cbacc8c85409a",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "a host in upper case",
    host: "WWW.Example.COM",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "67c6a07e0de7ed993923808d41c9be41690035f139b49b0d958b7da358035c73",
      seed: "2af0cbc7611b3477a5e28385764cbacc8c85409a",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "a host in upper case with a port",
    host: "WWW.EXAMPLE.COM:80",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "67c6a07e0de7ed993923808d41c9be41690035f139b49b0d958b7da358035c73",
      seed: "2af0cbc7611b3477a5e28385764cbacc8c85409a",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "a dot after the host stays",
    host: "www.example.com.",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "311bd1ece22455b6a9bf699b6af2622233ce5fe4777237de924017f4bca89ea0",
      seed: "89ef0b4e7ac8202f8734173ae913bf3dc66e2b36",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "an IPv4 address as host",
    host: "192.0.2.10:8080",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "3f977f3049c3489ffcbf49246df532054989819bb3ac2fd72e1464d9b4480594",
      seed: "784a100c775b916206d36dff7e05d1a695f95ab3",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "an IPv6 address as host keeps its brackets",
    host: "[2001:db8::10]",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "12b31415c141ab5ad2235b3d107545465ac708850212d22e0f8cb83a12759919",
      seed: "f5f986594b22d67794bad5bc484288a2abe33fee",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "an IPv6 address as host, in upper case with a port",
    host: "[2001:DB8::10]:8080",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "12b31415c141ab5ad2235b3d107545465ac708850212d22e0f8cb83a12759919",
      seed: "f5f986594b22d67794bad5bc484288a2abe33fee",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "an IPv6 client",
    host: "www.example.com",
    path: "/login",
    method: "POST",
    address: "2001:db8:1:2::3",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "0f815bb3411fd9af605f055e1b26853322e6a10cf03f82380537ce73a1a6b7b4",
      seed: "c43ec60366a8eca0d02add7dea6900a345764c1a",
    },
    broad: {
      sha256: "6524f1fe52f6e4182d0d6f73f4aa0e0f8fac44d94783ed96576db515098e07c2",
      seed: "75ecb61dfd47b8edda37f8bffcb87b088919f16b",
    },
  },
  {
    name: "an IPv6 client with two runs of zeros",
    host: "www.example.com",
    path: "/login",
    method: "POST",
    address: "2001:db8:0:0:1:0:0:1",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "1d21938d28efe2fa23ad0012195ed86356d372e047c47fcf831157854ebe2b1c",
      seed: "83af6073918b27b02f3399763f7222912daac3c5",
    },
    broad: {
      sha256: "2a8bcedaf9e38cdb8004c563e155df47503450487921baa28599e2766a4512d4",
      seed: "95982ed5726b3c343d65e966b406e815e4691f1a",
    },
  },
  {
    name: "an IPv6 client with a single zero",
    host: "www.example.com",
    path: "/login",
    method: "POST",
    address: "2001:db8:0:1:1:1:1:1",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "2e83ddcce6487296d418c6baec189f6f832d48f92fec91cfe56ecacc44dc9a6f",
      seed: "ebf425e91b6e5193f8613e631a55baf7b8d88274",
    },
    broad: {
      sha256: "c7184fa6a3a96bfa029e1026425a4e7b55ce8fe86342bd6b40cac67a0c18e18c",
      seed: "6e77a070f5f8d6008546b8f48dcca31ae690f039",
    },
  },
  {
    name: "an IPv4 client mapped into IPv6",
    host: "www.example.com",
    path: "/login",
    method: "POST",
    address: "::ffff:203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "67c6a07e0de7ed993923808d41c9be41690035f139b49b0d958b7da358035c73",
      seed: "2af0cbc7611b3477a5e28385764cbacc8c85409a",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "a query is left out",
    host: "www.example.com",
    path: "/login?next=/home&x=1",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "67c6a07e0de7ed993923808d41c9be41690035f139b49b0d958b7da358035c73",
      seed: "2af0cbc7611b3477a5e28385764cbacc8c85409a",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "an empty query is left out",
    host: "www.example.com",
    path: "/login?",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "67c6a07e0de7ed993923808d41c9be41690035f139b49b0d958b7da358035c73",
      seed: "2af0cbc7611b3477a5e28385764cbacc8c85409a",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "a second question mark is of the query",
    host: "www.example.com",
    path: "/login?a?b",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "67c6a07e0de7ed993923808d41c9be41690035f139b49b0d958b7da358035c73",
      seed: "2af0cbc7611b3477a5e28385764cbacc8c85409a",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "a fragment is left out",
    host: "www.example.com",
    path: "/login#top",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "67c6a07e0de7ed993923808d41c9be41690035f139b49b0d958b7da358035c73",
      seed: "2af0cbc7611b3477a5e28385764cbacc8c85409a",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "escapes stay as they are",
    host: "www.example.com",
    path: "/%2e%2E/a%2Fb%00",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "ade6e5e549e5272f8422f57e2aa57186fd7002790a4200508c010ebf2618ca7d",
      seed: "fa1765db1342b998012a7ec3d5af29f71fd9f7ba",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "slashes and dots stay as they are",
    host: "www.example.com",
    path: "//a//./b/../c/",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "7bd0dd354c0227ab4d5a56079fe6dc444504abd5dd02e5bcd2390f7e5e777750",
      seed: "b3b01de3d25b6948bfe1cb184a5ba09017b76d92",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "a path parameter stays",
    host: "www.example.com",
    path: "/login;jsessionid=1;x",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "3db7c3f1c5f0fd6aa8046edd966550df6f8b4ec88a44e9cf0ea13643a5aa73d9",
      seed: "4ff012780c374a2e0afb3edbc99a5d50b3f186d5",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "a path with the separators of both forms",
    host: "www.example.com",
    path: "/a:b:GET|c,d",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "c9a38d085da06f0bfec8ba209b2259fac8a755e6cc19e6fd762ff41bd3611a9a",
      seed: "ac91bb8eed4c1bf25baa1c32e7af4cbde97eee5d",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "a path's case stays",
    host: "www.example.com",
    path: "/Login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "0acc8d49b4de06887feeb30721356628c207ce74a33faa508c7de2f974d5a9de",
      seed: "15ba6ee176f72bb5ce057dadf0f0c7b6884c0509",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "a path of 4 kB",
    host: "www.example.com",
    path: `/${"a".repeat(4095)}`,
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "7d44ea03daf2a7bba0db832864e3f7d052ceebb20d99de49f1dd345fc704e163",
      seed: "e2973309da220d6826243291f2067296d2f3933f",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "a method in lower case",
    host: "www.example.com",
    path: "/login",
    method: "post",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "67c6a07e0de7ed993923808d41c9be41690035f139b49b0d958b7da358035c73",
      seed: "2af0cbc7611b3477a5e28385764cbacc8c85409a",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "HEAD is GET",
    host: "www.example.com",
    path: "/login",
    method: "HEAD",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "f68e5b290e39b7455b40c71c923cd08b393c348ea8f531b05581169ee1f619f5",
      seed: "6d4c1557dc5feb9fcbd144b28d37011b89a4c115",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "HEAD in lower case is GET",
    host: "www.example.com",
    path: "/login",
    method: "head",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "f68e5b290e39b7455b40c71c923cd08b393c348ea8f531b05581169ee1f619f5",
      seed: "6d4c1557dc5feb9fcbd144b28d37011b89a4c115",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "GET, which HEAD is",
    host: "www.example.com",
    path: "/login",
    method: "GET",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "f68e5b290e39b7455b40c71c923cd08b393c348ea8f531b05581169ee1f619f5",
      seed: "6d4c1557dc5feb9fcbd144b28d37011b89a4c115",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "a whole address without a path",
    host: "www.example.com",
    path: "http://www.example.com",
    method: "GET",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "0cb34660b4629e1aca40d3f36f4433349cc4e6d8dd8cc7eb3204498b87c9fcfb",
      seed: "17b05e852d7a07ee9cb88e40bce270edff60a72e",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "a whole address",
    host: "www.example.com",
    path: "http://www.example.com/login?a",
    method: "GET",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "f68e5b290e39b7455b40c71c923cd08b393c348ea8f531b05581169ee1f619f5",
      seed: "6d4c1557dc5feb9fcbd144b28d37011b89a4c115",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "an asterisk",
    host: "www.example.com",
    path: "*",
    method: "OPTIONS",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "890157d01333f086449758b8956c15c530400f7ae475b2a50dbc3f20ed663b51",
      seed: "297af286307e5b8526211d39b800f22c15fc818d",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "an IPv4 client behind NAT64",
    host: "www.example.com",
    path: "/login",
    method: "POST",
    address: "64:ff9b::cb00:7107",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "67c6a07e0de7ed993923808d41c9be41690035f139b49b0d958b7da358035c73",
      seed: "2af0cbc7611b3477a5e28385764cbacc8c85409a",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "an IPv4 client behind NAT64, of a low address",
    host: "www.example.com",
    path: "/login",
    method: "POST",
    address: "64:ff9b::7107",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "7522af7f53c4952993c49455d3fa9ed8708ad669546d7c30a5ca5a848001ba06",
      seed: "4ff4891a0ae483fafd048e68604e7996dabd4356",
    },
    broad: {
      sha256: "026eea09fe42d509a98e5cf41e2f006d6e9cd76c9836c91192ae0756c9d8b27e",
      seed: "8baddf0e6c89c39eb7f18456516f417c15768d8f",
    },
  },
  {
    name: "a method of WebDAV",
    host: "www.example.com",
    path: "/login",
    method: "PROPFIND",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "da3c2f969fbe8b46bc3b005ef9b5e847d58fa2f2c31fb639a1bffd3e367d1716",
      seed: "8fda5f000ddd74002a74bca764e9fd8c01483633",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "a method with a dash",
    host: "www.example.com",
    path: "/login",
    method: "M-SEARCH",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    standard: {
      sha256: "454f735d8b63f18db87929832011e5d8afee50e5547f3524f86c2b7a56201437",
      seed: "91fc4cca191150ced7c7c72474f4974135955206",
    },
    broad: {
      sha256: "a14adf1db1d5ef0a430e5dad9c1f51efc22067969cb165ea0f76f33e90207235",
      seed: "d7a120253713dc9941ece1fbc5c43dea116e102f",
    },
  },
  {
    name: "no user agent",
    host: "www.example.com",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "",
    standard: {
      sha256: "e549926e56a2c94bd617b1aeb4beb23ddcd49dad481dd9fab19b0bc143c47681",
      seed: "57ba786b9322e2d2cbb12ea94728d0ad4d144251",
    },
    broad: {
      sha256: "4604a8011990530b42d1d0f406547d9be55371fe3b40549c899462820bc58bf1",
      seed: "9b0592535f6c6a35d3fe15aa72307683885b424d",
    },
  },
  {
    name: "a user agent with quotes",
    host: "www.example.com",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "say \"hi\" 'there'",
    standard: {
      sha256: "09bab6302b1d5127c40baf3902d34f52d8aa27c5a61c3290c9bf18a09978a914",
      seed: "ad489972000efabd5cc3599a93de8b332dd9e936",
    },
    broad: {
      sha256: "2e938684f0ad5e879b18a9efa896573df9b4118081a6e6f6d6b8e5a5464c3a6a",
      seed: "bc6a76e1afe0435d7809671c37804d05b147fcd4",
    },
  },
  {
    name: "a user agent with semicolons, braces and a number sign",
    host: "www.example.com",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "a; b;c } { # d",
    standard: {
      sha256: "1305988cc4750f97de864df9ec2e0b8a5ca0a0d1eff3cc2b265fb70398a507c7",
      seed: "261eb4fac8174027fbe7d803aefc52ac42ce9eea",
    },
    broad: {
      sha256: "c5d643b651c95426cbc9fec343e5a1e5d3160ed9a472395cc7e8a7615817b5a3",
      seed: "423d3a195c92e614cc02d77b0c23788de79626ed",
    },
  },
  {
    name: "a user agent with backslashes",
    host: "www.example.com",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "C:\\temp\\n\\\\ \\x00",
    standard: {
      sha256: "e6433b00ba771d191b5e07d32e01b68d3d43c2e116a3f05ecbf0e7348e461e06",
      seed: "a92c2debce1903f75a9733796680dfef73086832",
    },
    broad: {
      sha256: "ae6b54167b07d91c621cc9ab3b048026ca8d2d7f395e81cb709a595659518e6a",
      seed: "199ea4181d624818270dc39bbf8a18d7aed6dbb0",
    },
  },
  {
    name: "a user agent with the start of a payload",
    host: "www.example.com",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "<< add map x <<EOF",
    standard: {
      sha256: "11d0b9096fa12461d5587ccc78e09b513720a52aad000d74b4735a98b45a8ddf",
      seed: "6ce8deb26b0d0131558472eedeab45f4250e57de",
    },
    broad: {
      sha256: "543a4dc305d790c6af6cef2f01968bbd8d6f019102be011081700f13e1b1f159",
      seed: "b9fe4256aa7ec8040be05240487f2629a8fcb7e6",
    },
  },
  {
    name: "a user agent with percent signs and dollars",
    host: "www.example.com",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "%s %[src] $(id) $HOME $remote_addr %0d%0a",
    standard: {
      sha256: "c8cf0bd2609dd6d5cb67eda49c1ceb51fa978501ee967fa751133413ee38e500",
      seed: "5195fc33e531e5182a7e851ed066379fae13c3da",
    },
    broad: {
      sha256: "c3dccaa41c535dd1b902f5ae103cb4ed8024254e2279bc7eb234d92103206021",
      seed: "aae92e604a9094ee8652a01d29650d3678216999",
    },
  },
  {
    name: "a user agent with a tab inside",
    host: "www.example.com",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "a\tb\tc",
    standard: {
      sha256: "07bfca13d20aee2c67f093fa560a3312f9a9dc032d147edc8c0cd4642cf750ee",
      seed: "73c8fcb24b5f9d225ae5042e70838a412e6e31d7",
    },
    broad: {
      sha256: "cb1ff36ea9d7f96fa79364f6825ce3090a41550863d841cbdb22a7c2b20bd7f4",
      seed: "eb271285cb91e550f8c44cc6ac8391c2fd6eaf34",
    },
  },
  {
    name: "a user agent with blanks inside",
    host: "www.example.com",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "a  b   c",
    standard: {
      sha256: "7de7629f9597f2d03a13bacda81bac73db866ea7785f38176860387e6191dd4b",
      seed: "4f60b1d4e4f2d8bcd972a70e32fdc38638b08dbd",
    },
    broad: {
      sha256: "96edb2599bea7ef67d0e1560d5e570f8edcafdc376965fc13de823d9627634ed",
      seed: "43ca1998f00c9d9edb7e5e109c4858939779f959",
    },
  },
  {
    name: "a user agent like a length and a part",
    host: "www.example.com",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "3:abc0:",
    standard: {
      sha256: "17850b097a28f72fd5280c2d2f051867a85ee5dd8523d878d45e3001fa12c057",
      seed: "65797f330a1abe0ed0ed63d49c2da0505a21721a",
    },
    broad: {
      sha256: "6fef22fa7f5eea5675d1018b58254fe907c1311ea509b826afac4dc7ee9812de",
      seed: "6455f7678be099c7ad113643f231dc90d3695f38",
    },
  },
  {
    name: "colons, one way: the seed's form takes it for the next",
    host: "h",
    path: "/a",
    method: "GET",
    address: "203.0.113.7",
    userAgent: "x:GET:203.0.113.7:y",
    standard: {
      sha256: "6788e066f74fca011c508bb09beda82bde6366ce924a39a95d3063a284c626e1",
      seed: "32472945ea51b7cdd46cb26b72a02fe5980d86da",
    },
    broad: {
      sha256: "6bec6556444ac4717cc4d26189e40621b4fee727462272881965b36e05043fe8",
      seed: "0215344ba40d56645d97f14cbd5c122a6137e2e2",
    },
  },
  {
    name: "colons, the other way: the seed's form takes it for the one before",
    host: "h",
    path: "/a:GET:203.0.113.7:x",
    method: "GET",
    address: "203.0.113.7",
    userAgent: "y",
    standard: {
      sha256: "756b3b3c2d339748390817f51e9f25b3d218b77bed61b79b6cc634aed142fa7d",
      seed: "32472945ea51b7cdd46cb26b72a02fe5980d86da",
    },
    broad: {
      sha256: "46e49bf62a2957c4f8546ff816607dcdef8ac12131b6c0f221c737c422adfc9b",
      seed: "06e410b72a728064b10b0b3f14cfd8fd5ca9a1a0",
    },
  },
  {
    name: "a user agent of bytes that are no UTF-8",
    host: "www.example.com",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "caf\xe9 \xff\xfe\x80",
    standard: {
      sha256: "f3a7465361491f9140ead7a4ef7d65e7021d8e522baa3cfad01fc3cc452bd7dd",
      seed: "d8883d4689717ddc45fb1c36df1ac2f2cb154052",
    },
    broad: {
      sha256: "cea1c02b274babf022eb78182dff688605cb74b184534300033767ea34a2a695",
      seed: "0b999dba66d9e5ea3427e92be2809bb5aee6415d",
    },
  },
  {
    name: "a user agent in UTF-8, as its bytes",
    host: "www.example.com",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "caf\xc3\xa9 \xe6\xb3\xa2\xf0\x9f\x8c\x8a",
    standard: {
      sha256: "2dc6488e905d4cd321705ca01ed8ba02ea8044ba1f38e31424d38dc1f8c9b091",
      seed: "af2d61caabde7f114e9c056ac82e61db7c735375",
    },
    broad: {
      sha256: "77ac7c8a0c4efb5eff5f57a8bf0b5295c875a967bb53f15e67594370b3651ffc",
      seed: "ea1d00f8c0e8bf1d15fe9de15cf305a2c76c9e32",
    },
  },
  {
    name: "a user agent of 4 kB",
    host: "www.example.com",
    path: "/login",
    method: "POST",
    address: "203.0.113.7",
    userAgent: `Mozilla/${"u".repeat(4088)}`,
    standard: {
      sha256: "b26b2903574e8bd4eb8301e6eb35912080de36428d47eab23d5d63da62b2a61b",
      seed: "eba04beb87172ba5a6c7a27a2e129acb343f017d",
    },
    broad: {
      sha256: "4b0880152d71bf7eb275d9ef74b7de0d16ea05bcce54845938ff9358e090246d",
      seed: "c31a2f665aaaa261d388b20825c583f9a134b0a5",
    },
  },
  {
    name: "the tool sqlmap",
    host: "www.example.com",
    path: "/wp-login.php",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "sqlmap/1.4#stable (http://sqlmap.org)",
    standard: {
      sha256: "8b79e8d7de542d071a3f35b01c9041de4e1c2fcfd8d78b594cc73681e6b7ca6e",
      seed: "886fc33c57075b860ba8aa0450accd047dac00f4",
    },
    broad: {
      sha256: "741bd80c2a4a1d0815f088b1df57afefc6312a64606a38ca8e2a7dc1b9f0d801",
      seed: "2444c8710e16b1b479a3ca13dfb9d12a2b68e85b",
    },
  },
  {
    name: "the tool Scrapy",
    host: "www.example.com",
    path: "/wp-login.php",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Scrapy/2.11.2 (+https://scrapy.org)",
    standard: {
      sha256: "4e3d7ca9815731631b6c0c5befcdab1a95a84fc007a6afa977213580ba0b416c",
      seed: "335a61476a94579b75ba4e3a0157306427a83507",
    },
    broad: {
      sha256: "271bbc585dc7f940a3c5c6eae65c5606353419bb281b3d75ec2121a3506ca918",
      seed: "f64591a8fb88e369de1beda154494dbdfa7e3740",
    },
  },
  {
    name: "the tool SimplePie",
    host: "www.example.com",
    path: "/wp-login.php",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "SimplePie/1.3.1 (Feed Parser; http://simplepie.org; Allow like Gecko) Build/20121030175911",
    standard: {
      sha256: "ed9ff64e38a0518e6693f69b5f7c21ec661575816e67478fcdef8cce9a9e6053",
      seed: "d459958468ad5b6272c0ed88e76290cb62bc76ab",
    },
    broad: {
      sha256: "ddc4c66c2b7c6995339b2b79f37d61e1593f86e828b0717f54d81402f42d23ea",
      seed: "4789b95c6d1fee164f6c345957c0361bf7b95141",
    },
  },
  {
    name: "the tool ffuf",
    host: "www.example.com",
    path: "/wp-login.php",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Fuzz Faster U Fool v2.1.0-dev",
    standard: {
      sha256: "894490a1ccfe3f74de9cf17b6f4fe8eb6732a87231407d89ad8f7920fa3cd12b",
      seed: "e81107f4de05661706c62182d00cfd433cf046f0",
    },
    broad: {
      sha256: "2926d3991a3e77472e4e599fb856b26aebdeef031c34ad5d8756a7e9bd1cf1b6",
      seed: "e96243f48a64a81f1dbef874fd5ff4ed44ead823",
    },
  },
  {
    name: "the tool wfuzz",
    host: "www.example.com",
    path: "/wp-login.php",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Wfuzz/2.4",
    standard: {
      sha256: "53757ab8520fb22bf31647be539747a2c5dd7d40822bfb05cba0b9ff6f61e267",
      seed: "17c1f1a18bb32d3693f9d828e8fa1372bcc634e5",
    },
    broad: {
      sha256: "6dd1166f127f79b6b501f39092897700d4017d9896386bcc89250bbce8a53312",
      seed: "fc81dced96ca80152baad2b59a19ebdb6f1cd5cc",
    },
  },
  {
    name: "the tool Nikto",
    host: "www.example.com",
    path: "/wp-login.php",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.00 (Nikto/2.1.6) (Evasions:None) (Test:000001)",
    standard: {
      sha256: "591f79209fb7324b128ef0cd00996f7ac398ec266574357efa035a23852426ed",
      seed: "b597108e07d8db3afb88b7107526b281223fc6bc",
    },
    broad: {
      sha256: "51c7aa3b7db7746abff0ad4d133955669dbbca567be200cb8d9bd02782ed3c5a",
      seed: "2690bb93962aae829d605e98cd5269ef394835be",
    },
  },
  {
    name: "the tool Nuclei",
    host: "www.example.com",
    path: "/wp-login.php",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Nuclei - Open-source project (github.com/projectdiscovery/nuclei)",
    standard: {
      sha256: "4da30b16ad4c9b50af113a9f41d8357f957500dfe8197c189714785711ceea74",
      seed: "746b409ea6a9ad1cba3ad9b2463e5f1a0fa2d3de",
    },
    broad: {
      sha256: "704641da9d577b8740c9ae4f4a6134f473bcb21b827fc7d77621f32160c64697",
      seed: "af2a1abfd8f6c4544a5c7a22b8eb6a430d9ce123",
    },
  },
  {
    name: "the tool masscan",
    host: "www.example.com",
    path: "/wp-login.php",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "ivre-masscan/1.3 https://github.com/robertdavidgraham/",
    standard: {
      sha256: "00a71d1e90c9ce3eafeee258ec6a59de67f3f9180dcd0097dcced6b2720c52e3",
      seed: "0acc468e11a039619beb71142eab32805566abb4",
    },
    broad: {
      sha256: "32cde8ade4020eabdda934679ab8c95c6fa908f8d0e1c5fab9e2266085ef2920",
      seed: "d9f940ee041fbb160bf38de69bddb7dd37e3ec22",
    },
  },
  {
    name: "the tool Nmap",
    host: "www.example.com",
    path: "/wp-login.php",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (compatible; Nmap Scripting Engine; https://nmap.org/book/nse.html)",
    standard: {
      sha256: "1a25aa5c17edc1c54eec8fa8b5198d734d597c2329a7f125adbd8bd2e51078b4",
      seed: "28200d68574d13c3428a8b6db250c05e11c1eb41",
    },
    broad: {
      sha256: "3f85a599849a07c0a497646d009806a830f98dd85a547739775e496efa20f364",
      seed: "e0cdae259f8495e0304e7605d9cc51b9a293a6a4",
    },
  },
  {
    name: "the tool OpenVAS",
    host: "www.example.com",
    path: "/wp-login.php",
    method: "POST",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 [en] (X11, U; OpenVAS-VT 22.4.1)",
    standard: {
      sha256: "a530f9833285fdb5f046d01c096c1cf96ccbc950fdead540cf7604c22873e794",
      seed: "25493522a5eb51fb428a1fc9f9664dce75f113e4",
    },
    broad: {
      sha256: "1de06a5b616daa73379dd2a3990bed3d0c1da5b0c6e2880756f74f2f7e18f29e",
      seed: "cb77134ee9c085758be1c1e944bcc930297ae363",
    },
  },
];
