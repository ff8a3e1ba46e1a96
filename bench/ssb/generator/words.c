/*-------------------------------------------------------------------------
 *
 * words.c
 *	  The word lists, as in the SSB and the TPC-H specifications.
 *
 *-------------------------------------------------------------------------
 */
#include "words.h"

const Nation nations[25] = {
	{"ALGERIA", "AFRICA", 10},
	{"ARGENTINA", "AMERICA", 11},
	{"BRAZIL", "AMERICA", 12},
	{"CANADA", "AMERICA", 13},
	{"EGYPT", "MIDDLE EAST", 14},
	{"ETHIOPIA", "AFRICA", 15},
	{"FRANCE", "EUROPE", 16},
	{"GERMANY", "EUROPE", 17},
	{"INDIA", "ASIA", 18},
	{"INDONESIA", "ASIA", 19},
	{"IRAN", "MIDDLE EAST", 20},
	{"IRAQ", "MIDDLE EAST", 21},
	{"JAPAN", "ASIA", 22},
	{"JORDAN", "MIDDLE EAST", 23},
	{"KENYA", "AFRICA", 24},
	{"MOROCCO", "AFRICA", 25},
	{"MOZAMBIQUE", "AFRICA", 26},
	{"PERU", "AMERICA", 27},
	{"CHINA", "ASIA", 28},
	{"ROMANIA", "EUROPE", 29},
	{"SAUDI ARABIA", "MIDDLE EAST", 30},
	{"VIETNAM", "ASIA", 31},
	{"RUSSIA", "EUROPE", 32},
	{"UNITED KINGDOM", "EUROPE", 33},
	{"UNITED STATES", "AMERICA", 34},
};

const char *const segments[5] = {
	"AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"
};

const char *const priorities[5] = {
	"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"
};

const char *const ship_modes[7] = {
	"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"
};

const char *const colors[92] = {
	"almond", "antique", "aquamarine", "azure", "beige", "bisque", "black",
	"blanched", "blue", "blush", "brown", "burlywood", "burnished",
	"chartreuse", "chiffon", "chocolate", "coral", "cornflower", "cornsilk",
	"cream", "cyan", "dark", "deep", "dim", "dodger", "drab", "firebrick",
	"floral", "forest", "frosted", "gainsboro", "ghost", "goldenrod",
	"green", "grey", "honeydew", "hot", "indian", "ivory", "khaki", "lace",
	"lavender", "lawn", "lemon", "light", "lime", "linen", "magenta",
	"maroon", "medium", "metallic", "midnight", "mint", "misty", "moccasin",
	"navajo", "navy", "olive", "orange", "orchid", "pale", "papaya",
	"peach", "peru", "pink", "plum", "powder", "puff", "purple", "red",
	"rose", "rosy", "royal", "saddle", "salmon", "sandy", "seashell",
	"sienna", "sky", "slate", "smoke", "snow", "spring", "steel", "tan",
	"thistle", "tomato", "turquoise", "violet", "wheat", "white", "yellow"
};

const char *const type_sizes[6] = {
	"STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"
};

const char *const type_finishes[5] = {
	"ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"
};

const char *const type_metals[5] = {
	"TIN", "NICKEL", "BRASS", "STEEL", "COPPER"
};

const char *const container_sizes[5] = {
	"SM", "LG", "MED", "JUMBO", "WRAP"
};

const char *const container_kinds[8] = {
	"CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"
};

const char *const month_names[12] = {
	"January", "February", "March", "April", "May", "June", "July",
	"August", "September", "October", "November", "December"
};

const char *const weekday_names[7] = {
	"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday",
	"Saturday"
};

/* by month */
const char *const seasons[12] = {
	"Winter", "Winter", "Winter", "Spring", "Spring", "Summer", "Summer",
	"Summer", "Fall", "Fall", "Christmas", "Christmas"
};
