/**
 * The language of the app. Each page keeps its texts in a `messages.ts`, in English and German. Changing the language
 * loads the page again, so a module chooses its texts once.
 */

const NAME = 'language';

export const LANGUAGES = [
  { value: 'en', label: 'English' },
  { value: 'de', label: 'Deutsch' },
] as const;

type Language = (typeof LANGUAGES)[number]['value'];

/** Tests and the build run some modules of the app without a browser. */
const scope: object = globalThis;
const browser: {
  localStorage?: { getItem(name: string): string | null; setItem(name: string, value: string): void };
  navigator?: { languages?: readonly string[] };
  location?: { reload(): void };
} = scope;

/** The languages of the browser in order of preference. */
const preferred: readonly string[] = browser.navigator?.languages ?? [];

const isLanguage = (text: string): text is Language => LANGUAGES.some(({ value }) => value === text);

/** The user's choice, else the first language of the browser that the app has, else English. */
export const language: Language =
  [browser.localStorage?.getItem(NAME) ?? '', ...preferred.map((each) => each.slice(0, 2))].find(isLanguage) ?? 'en';

/** The locale for numbers and dates, which includes the region of the browser: `en-GB`. */
export const locale: string = preferred.find((each) => each.startsWith(language)) ?? language;

/** Stores the choice and loads the page again. Drafts are kept. */
export function changeLanguage(chosen: Language): void {
  browser.localStorage?.setItem(NAME, chosen);
  browser.location?.reload();
}

/** Returns the texts in the language of the app. A missing or superfluous German text is a type error. */
export const inLanguage = <Messages>(english: Messages, german: NoInfer<Messages>): Messages =>
  language === 'de' ? german : english;
