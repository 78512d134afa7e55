import "reflect-metadata";
import { ThrottlerStorageService } from "@nestjs/throttler";
import { LIMIT, WINDOW_MS } from "../lib/settings.mjs";

export const name = "@nestjs/throttler";

export const memory = {
  consume: () => {
    let storage = new ThrottlerStorageService();
    return {
      call: (key) => storage.increment(key, WINDOW_MS, LIMIT, 0, "default"),
      // It keeps one number for every hit of the window and walks them on each call. To be measured at its
      // best, it starts every sample empty.
      reset: () => {
        storage.onApplicationShutdown();
        storage = new ThrottlerStorageService();
      },
    };
  },
};
