import type { ServerResponse } from "node:http";
import type { ClientSeries, Series } from "./series.js";

/** What goes on now, for whoever wants to watch. */
export interface Live {
  /** Undefined: nothing here meets traffic. */
  readonly series?: LiveSeries;
  /** Sends events by this response until one side has enough. False: as many listen as may, or the server is ending. */
  listen(res: ServerResponse, options?: ListenerOptions): boolean;
  /** Tells every listener goodbye. */
  close(): void;
}

/** Of all processes that meet traffic here together. */
export interface LiveSeries {
  read(seconds: number): Promise<Series>;
  /** By an address; undefined: it is not among the busiest. */
  client(ip: string): Promise<ClientSeries | undefined>;
}

export interface ListenerOptions {
  /** The last entry of the audit it has had: those after it are sent first. */
  readonly auditAfter?: number;
  /** Asked every few seconds; whoever may no longer listen is sent away. */
  readonly isStillAllowed?: () => boolean | Promise<boolean>;
}
