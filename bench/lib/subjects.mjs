// Requests as an adapter describes them, and the lists and customers of a gate in use. Nobody here is listed.

const HEADERS = {
  host: "api.example.com",
  "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  accept: "application/json",
};
export const CUSTOMERS = 1000;

class RequestSubject {
  #headers;

  constructor(ip, path, user, customer, headers) {
    this.ip = ip;
    this.method = "GET";
    this.host = headers.host;
    this.path = path;
    this.user = user;
    this.customer = customer;
    this.account = undefined;
    this.#headers = headers;
  }

  header(name) {
    return this.#headers[name.toLowerCase()];
  }
}

/** Four in five come by IPv4, from blocks of a few clients each. */
function clientAddress(i) {
  const [high, low] = [i >> 8, i & 255];
  return i % 5 === 0
    ? `2001:db8:${high.toString(16)}:${low.toString(16)}::17`
    : `20.${high}.${low}.${i % 250}`;
}

export function makeSubjects(count) {
  return Array.from(
    { length: count },
    (_, i) =>
      new RequestSubject(
        flat(clientAddress(i)),
        flat(`/api/v1/orders/${i}?page=2`),
        flat(`user-${i}`),
        flat(customerId(i % CUSTOMERS)),
        HEADERS,
      ),
  );
}

/** A string of its own in one piece, as cut out of a request. */
const flat = (text) => Buffer.from(text, "latin1").latin1Slice();

export const customerId = (i) => `customer-${i}`;

/** Single addresses and blocks of several sizes, of both versions. */
export function listAddress(i) {
  const [high, low] = [i >> 8, i & 255];
  const forms = [
    `198.${high}.${low}.9`,
    `199.${high}.${low}.0/24`,
    `2a00:${high.toString(16)}:${low.toString(16)}::9`,
    `2a01:${high.toString(16)}:${low.toString(16)}::/48`,
    `203.${high}.${low}.64/28`,
  ];
  return forms[i % forms.length];
}
