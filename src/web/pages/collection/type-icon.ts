import clockIcon from 'icon:schedule';
import jsonIcon from 'icon:data_object';
import keyIcon from 'icon:fingerprint';
import numberIcon from 'icon:numbers';
import otherIcon from 'icon:category';
import switchIcon from 'icon:toggle_on';
import textIcon from 'icon:text_fields';

const ICONS: Readonly<Record<string, string>> = {
  string: textIcon,
  text: textIcon,
  hash: textIcon,
  csv: textIcon,
  integer: numberIcon,
  bigInteger: numberIcon,
  float: numberIcon,
  decimal: numberIcon,
  boolean: switchIcon,
  date: clockIcon,
  time: clockIcon,
  dateTime: clockIcon,
  timestamp: clockIcon,
  json: jsonIcon,
  uuid: keyIcon,
};

/**
 * @param type as the service names it
 * @returns the path of an icon; a generic one for unknown types
 */
export const typeIcon = (type: string): string => ICONS[type] ?? otherIcon;
