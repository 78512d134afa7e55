import { once } from "node:events";
import { connect } from "node:net";

/** Sends these bytes, one character each, and answers all that comes back until the server hangs up. */
export async function sendRaw(port: number, bytes: string): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1" });
  let answer = "";
  socket.setEncoding("latin1");
  socket.on("data", (text) => {
    answer += text;
  });
  socket.on("error", () => {});
  socket.write(bytes, "latin1");
  await once(socket, "close");
  return answer;
}

/** One request with this target as it is, however odd. */
export function requestFor(target: string, lines: readonly string[] = [], method = "GET"): string {
  const head = [`${method} ${target} HTTP/1.1`, "Host: localhost", "Connection: close", ...lines];
  return `${head.join("\r\n")}\r\n\r\n`;
}
