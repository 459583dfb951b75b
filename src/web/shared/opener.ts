/** Where the keyboard was when a form was opened beside the page. */
let opener: HTMLElement | null = null;

/** Of what was chosen from a menu, the button of the menu: the menu is gone by then. */
export function noteOpener(): void {
  const { activeElement } = document;
  const button = activeElement?.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  const place = button ? document.getElementById(button) : activeElement;
  opener = place instanceof HTMLElement && place !== document.body ? place : null;
}

/** The noted place, or the page where it is gone. */
export const placeBefore = (): HTMLElement | null =>
  opener?.isConnected === true ? opener : document.getElementById('page');
