import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { peerTest } from "tidegate/http";
import { bearerToken } from "../listen/bearer.js";
import type { Problem } from "../problem.js";
import { isGuessable } from "../secret.js";
import type { DecideSettings } from "../settings.js";
import { tooManyTokens, wrongToken } from "./problems.js";
import { wrongTokens } from "./wrong-tokens.js";

/** Who asks, and whether what it says of others is believed. */
export interface Caller {
  readonly ip: string;
  readonly isBelieved: boolean;
}

export interface Callers {
  /** Of a question: declared peers, and whoever sends the token as `Authorization: Bearer`. */
  ofQuestion(req: IncomingMessage): Caller | Problem;
  /** Of forward-auth, where Authorization is the client's own: the token stands in `Tidegate-Token`. */
  ofProxy(req: IncomingMessage): Caller | Problem;
}

/** What was found out of a connection: an address does not change, and a token is seldom another the next time. */
interface Connection {
  readonly isPeer: boolean;
  /** A header that brought the right token before. */
  goodHeader: string | undefined;
  readonly believed: Caller;
  readonly stranger: Caller;
}

export function callersOf({ peers, token }: Pick<DecideSettings, "peers" | "token">): Callers {
  const isPeer = peerTest(peers);
  const connections = new WeakMap<Socket, Connection>();
  const guesses = wrongTokens();

  function connectionOf({ socket }: IncomingMessage): Connection {
    let known = connections.get(socket);
    if (known === undefined) {
      const ip = socket.remoteAddress ?? "";
      known = {
        isPeer: isPeer(ip),
        goodHeader: undefined,
        believed: { ip, isBelieved: true },
        stranger: { ip, isBelieved: false },
      };
      connections.set(socket, known);
    }
    return known;
  }

  /** The right token is heard however many wrong ones came from its address, or any neighbour could keep its owner out; unless it could be guessed. */
  function callerWith(
    connection: Connection,
    sent: string | undefined,
    tokenIn: (sent: string) => string | undefined,
  ): Caller | Problem {
    if (sent === undefined || token === undefined)
      return connection.isPeer ? connection.believed : connection.stranger;
    if (sent !== connection.goodHeader) {
      const { ip } = connection.believed;
      const guess = tokenIn(sent) ?? "";
      if (isGuessable(guess) && guesses.isLockedOut(ip)) return tooManyTokens;
      if (!token.equals(guess)) return guesses.came(ip) ? wrongToken : tooManyTokens;
      connection.goodHeader = sent;
    }
    return connection.believed;
  }

  return {
    ofQuestion(req) {
      return callerWith(connectionOf(req), req.headers.authorization, bearerToken);
    },
    ofProxy(req) {
      const connection = connectionOf(req);
      // A client may send the header too, so from a declared proxy it says nothing.
      if (connection.isPeer) return connection.believed;
      return callerWith(connection, oneLine(req.headers["tidegate-token"]), (sent) => sent);
    },
  };
}

export function isProblem(found: Caller | Problem): found is Problem {
  return "code" in found;
}

/** Node makes one line of several, but for the few headers it lists; this is none of them. */
function oneLine(value: string | string[] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
