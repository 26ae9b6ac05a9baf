/** The formats of a file of mails, as the help lists them. The first one that fits reads a file. */
export const mailFormats = {
  mbox: "an mbox",
  emlx: "a mail of Apple Mail (.emlx)",
  message: "any other mail (.eml)",
  gmailDump: "a dump of the Gmail API",
} as const;

/** The name of a format. */
export type MailFormat = keyof typeof mailFormats;
