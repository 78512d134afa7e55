/** The types of Express 5 serve for what is used of Express 4 here. */
declare module "express4" {
  export { default } from "express";
}
