declare module "falco-js" {
  interface LintFinding {
    readonly Severity: "Error" | "Warning" | "Info";
    readonly Message: string;
    readonly Rule: string;
    readonly Token: { readonly Line: number };
  }
  interface LintResult {
    readonly Infos: number;
    readonly Warnings: number;
    readonly Errors: number;
    readonly LintErrors: Readonly<Record<string, readonly LintFinding[]>>;
    readonly ParseErrors: Readonly<Record<string, unknown>>;
    /** Only with `diagnosticsOnly: false`. */
    readonly Vcl?: { readonly AST: { readonly Statements: readonly unknown[] } };
  }
  export function lintText(
    text: string,
    options?: { autoAddIncludes?: boolean; diagnosticsOnly?: boolean },
  ): Promise<LintResult>;
}
