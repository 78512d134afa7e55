import { TidegateError } from "tidegate";

/** A log that can not be read, or how it is to be read can not be. */
export class LogError extends TidegateError {}
