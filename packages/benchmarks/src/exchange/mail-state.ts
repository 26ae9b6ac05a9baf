/** The state of one triage call (contract section 4.7). */
export interface MailState {
  readonly [field: string]: string;
  readonly from: string;
  readonly subject: string;
  readonly date: string;
  readonly snippet: string;
}

/** Gives the mail with this number; no two are equal, so nothing can be serialised once for all. */
export function mailState(index: number): MailState {
  return {
    from: `Cloudlark Accounts <no-reply-${index}@accounts.cloudlark.example>`,
    subject: `Security alert ${index}: an app was given access to your account`,
    date: "2026-03-02",
    snippet: `Calendar Bridge ${index} was given access to your Cloudlark account. If you did not allow this, your account may be at risk: check the activity and remove the access now. You received this message to let you know about important changes to your account.`,
  };
}
