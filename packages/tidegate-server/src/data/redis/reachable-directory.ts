import { type Directory, TidegateError } from "tidegate";
import { unreachableError } from "../data-errors.js";

/** The directory, whose failures have a code like those of all other data. */
export function reachableDirectory(directory: Directory): Directory {
  return {
    entries: (list) => coded(() => directory.entries(list)),
    put: (list, entry) => coded(() => directory.put(list, entry)),
    remove: (list, address) => coded(() => directory.remove(list, address)),
    customer: (id) => coded(() => directory.customer(id)),
    putCustomer: (id, record) => coded(() => directory.putCustomer(id, record)),
    watch: (watcher) => directory.watch(watcher),
    close: () => directory.close?.(),
  };
}

async function coded<T>(ask: () => T | Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const isForGood = error instanceof TidegateError && !("transient" in error && error.transient === true);
    throw isForGood ? error : unreachableError(error);
  }
}
