The lower half of a symmetric matrix                                    sym     
             4             1             1             2
rsa                          3             3             5             0
(4I3)           (6I2)           (1P,3(1X,E15.7E3))  
  1  3  5  6
 1 2 2 3 3
  4.0000000E+000 -1.0000000E+000  4.0000000E+000
 -1.5000000E+000  4.0000000E+000
