import { createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { closeAll, eventually, openRig, raw } from "./proxy-rig.js";

const servers: { readonly server: Server; readonly sockets: Socket[] }[] = [];

afterEach(async () => {
  await closeAll();
  for (const { server, sockets } of servers.splice(0)) {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

const answer = (body: string, head = ""): string =>
  `HTTP/1.1 200 OK\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`;

/** Talks as it is told to each request, which it numbers, and answers the proxy in front of it. */
async function openTalker(talk: (socket: Socket, nth: number, text: string) => unknown) {
  const sockets: Socket[] = [];
  let nth = 0;
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.on("data", (piece) => talk(socket, ++nth, piece.toString("latin1")));
  });
  servers.push({ server, sockets });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const urls = [`http://127.0.0.1:${port}`];
  const rig = await openRig({ upstreams: [{ urls }] });
  return { sockets, urls, ask: (method = "GET", body = "") => askOn(rig.port, method, body) };
}

function askOn(port: number, method: string, body: string): Promise<string> {
  const length = body === "" ? "" : `Content-Length: ${body.length}\r\n`;
  return raw(port, `${method} / HTTP/1.1\r\nHost: a\r\n${length}Connection: close\r\n\r\n${body}`);
}

describe("a connection to an upstream", () => {
  it("is used for one request after another", async () => {
    const { ask, sockets } = await openTalker((socket, nth) => socket.write(answer(`answer ${nth}`)));
    for (let nth = 1; nth <= 10; nth++) expect(await ask()).toMatch(new RegExp(`\\r\\n\\r\\nanswer ${nth}$`));
    expect(sockets).toHaveLength(1);
  });

  it("on which more came than was asked for is given up, and nobody hears of what came", async () => {
    const stray = answer("another's secret");
    const ways: Record<string, (socket: Socket, own: string) => void> = {
      "with the answer": (socket, own) => socket.write(own + stray),
      "a byte of it with the answer": (socket, own) => {
        socket.write(own + stray[0]);
        setImmediate(() => socket.write(stray.slice(1)));
      },
      "soon after it": (socket, own) => {
        socket.write(own);
        setImmediate(() => socket.write(stray));
      },
      "a line's end only": (socket, own) => socket.write(`${own}\r\n`),
    };
    for (const [what, way] of Object.entries(ways)) {
      const { ask, sockets } = await openTalker((socket, nth) => way(socket, answer(`answer ${nth}`)));
      for (let nth = 1; nth <= 5; nth++) {
        expect(await ask(), what).toMatch(new RegExp(`\\r\\n\\r\\nanswer ${nth}$`));
        await sleep(20);
      }
      expect(sockets, what).toHaveLength(5);
    }
  });

  it("is found out to be closed before the next request goes there: not even a POST is lost", async () => {
    const seen: string[] = [];
    const { ask, sockets } = await openTalker((socket, nth, text) => {
      seen.push(text.slice(0, 4));
      socket.end(answer(`answer ${nth}`));
    });
    for (let nth = 1; nth <= 5; nth++) {
      expect(await ask("POST", "x")).toContain(`answer ${nth}`);
      await sleep(20);
    }
    expect(seen).toEqual(["POST", "POST", "POST", "POST", "POST"]);
    expect(sockets).toHaveLength(5);
  });

  it("is not used longer than the upstream says it keeps it, and closed then", async () => {
    const { ask, sockets } = await openTalker((socket, nth) =>
      socket.write(answer(`answer ${nth}`, "Keep-Alive: timeout=2\r\n")),
    );
    await ask();
    await ask();
    expect(sockets).toHaveLength(1);
    await eventually(() => sockets[0]?.readableEnded === true || sockets[0]?.destroyed === true);
    expect(await ask()).toContain("answer 3");
    expect(sockets).toHaveLength(2);
  });

  it("is not used again after an answer that tells of a body it may not have", async () => {
    const framings = ["Content-Length: 60", "Transfer-Encoding: chunked"];
    for (const status of ["204 No Content", "304 Not Modified"]) {
      for (const framing of framings) {
        const { ask, sockets } = await openTalker((socket, nth) => {
          if (nth % 2 === 0) return socket.write(answer("own"));
          // As Node's own sockets do it, the second comes only once the first was heard: with the next request.
          socket.write(`HTTP/1.1 ${status}\r\n${framing}\r\n\r\n`);
          return socket.write(answer("another's"));
        });
        for (let i = 0; i < 5; i++) {
          await ask();
          expect(await ask(), `${status}, ${framing}`).toMatch(/\r\n\r\nown$/);
        }
        expect(sockets.length).toBeGreaterThan(5);
      }
    }
  });

  it("is not used again after HEAD, whose answer some give a body", async () => {
    const { ask, sockets } = await openTalker((socket, nth) => socket.write(answer(`answer ${nth}`)));
    expect(await ask("HEAD")).toMatch(/Content-Length: 8\r\n[\s\S]*\r\n\r\n$/);
    expect(await ask()).toContain("answer 2");
    expect(sockets).toHaveLength(2);
  });
});

describe("a proxy that closes", () => {
  it("asks nobody any more, also what it would have asked a second time", async () => {
    const silent = await openTalker(() => {});
    const other = await openTalker(() => {});
    const { port, proxy } = await openRig({ upstreams: [{ urls: [...silent.urls, ...other.urls] }] });
    const opened = (): number => silent.sockets.length + other.sockets.length;
    const asked = askOn(port, "GET", "");
    await eventually(() => opened() > 0);
    await proxy.close();
    expect(await asked).toMatch(/^HTTP\/1\.1 50[23] /);
    await sleep(50);
    expect(opened()).toBe(1);
  });
});

describe("an upstream that says to wait", () => {
  it("unasked, as some do, is waited for", async () => {
    const { ask, sockets } = await openTalker(async (socket, nth) => {
      socket.write("HTTP/1.1 100 Continue\r\n\r\n");
      await sleep(10);
      socket.write(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${answer(`answer ${nth}`)}`);
    });
    for (const method of ["GET", "POST"]) {
      const text = await ask(method, method === "POST" ? "x" : "");
      expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nanswer \d$/);
      expect(text).not.toMatch(/HTTP\/1\.1 10[03]/);
    }
    expect(sockets).toHaveLength(1);
  });
});

describe("what an upstream gets", () => {
  const firstLines = async (method: string, body: string): Promise<string> => {
    let got = "";
    const { ask } = await openTalker((socket, _, text) => {
      got = text;
      socket.write(answer(""));
    });
    await ask(method, body);
    return got;
  };

  it("names the host first, and says that it has no body where one would be expected", async () => {
    expect(await firstLines("GET", "")).toMatch(
      /^GET \/ HTTP\/1\.1\r\nhost: a\r\nconnection: keep-alive\r\n/,
    );
    expect(await firstLines("GET", "")).not.toMatch(/content-length|transfer-encoding/i);
    expect(await firstLines("POST", "")).toMatch(/\r\ncontent-length: 0\r\n\r\n$/);
    expect(await firstLines("DELETE", "")).not.toMatch(/content-length|transfer-encoding/i);
    expect(await firstLines("DELETE", "body")).toMatch(/\r\ncontent-length: 4\r\n\r\nbody$/);
  });
});
