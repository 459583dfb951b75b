/** Imports the styles of every page. The order ensures that the styles of the app take precedence. */
import '@mantine/core/styles.css';
import '@mantine/spotlight/styles.css';
import './styles.css';
